// Editing by the built daemon: over HTTP, and in ChanFlow text.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { turn } from '../kit/string-cli.js';
import { makeBase, shareStringd, StringdUnderTest } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';
import { freePort } from '../../helpers/free-port.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const shared = shareStringd();
const HINT = '\n---\nUse /undo to revert.';

interface Answer {
  readonly code: string | null;
  readonly text: string;
}

/** The body, without the line that repeats the command. */
async function run(stringd: StringdUnderTest, cmd: string, topic = 'edit'): Promise<Answer> {
  const { events } = await stringd.exec(topic, cmd);
  const [head, content] = events.map(({ data }) => data) as [{ code: string | null }, string];
  return { code: head.code, text: content.replace(/^re: [^\n]*\n/u, '') };
}

verifies(['string/edit/feedback', 'string/edit/write', 'string/edit/lines'], async (transport) => {
  const stringd = shared();
  const path = join(stringd.home, `notes-${transport}/meeting.md`);
  const name = `~/notes-${transport}/meeting.md`;
  const block = (payload: string): string => `<𝒞=string:file:notes>\n${payload}\n</𝒞>\n`;
  const lines = ['# Meeting', ...Array.from({ length: 9 }, (_, at) => `line ${at + 2}`)];
  const decisions = ['<!-- #decisions -->', '## Decisions', '(none yet)', '<!-- /decisions -->'];
  const made = await turn(
    transport,
    stringd,
    block(`/write ${name}\n${[...lines, ...decisions].join('\n')}`),
  );
  expect(made).toMatch(
    /^<𝒞=string:file:notes time="[^"]+" mode=edit>\n✓ ~\/notes-\w+\/meeting\.md — Added 14 lines\n\n/u,
  );
  const edited = await turn(
    transport,
    stringd,
    block(`/edit ${name}#decisions\n## Decisions\n1. Move deadline to April 1\n2. Switch to weekly syncs`),
  );
  expect(edited).toMatch(/^<𝒞=string:file:notes time="[^"]+" mode=edit>\n/u);
  expect(edited.split('\n').slice(1)).toEqual([
    `✓ ${name}#decisions — Added 2 lines, removed 1 line`,
    '',
    ' 11  │ <!-- #decisions -->',
    ' 12  │ ## Decisions',
    ' 13 -│ (none yet)',
    ' 13 +│ 1. Move deadline to April 1',
    ' 14 +│ 2. Switch to weekly syncs',
    ' 15  │ <!-- /decisions -->',
    '</𝒞>',
    '',
  ]);
  await turn(
    transport,
    stringd,
    block(`/replace ${name}:L5\nThis line replaces line 5.\nThis is a second line.`),
  );
  expect(readFileSync(path, 'utf8').split('\n').slice(3, 7)).toEqual([
    'line 4',
    'This line replaces line 5.',
    'This is a second line.',
    'line 6',
  ]);
});

verifies('string/edit/conflict', async () => {
  const stringd = shared();
  const path = join(stringd.home, 'conflict.md');
  writeFileSync(path, 'theirs\n');
  expect(await run(stringd, '/write conflict.md\nmine')).toMatchObject({
    code: 'CONFLICT',
    text: expect.stringMatching(/^ERROR\(CONFLICT\): /u) as string,
  });
  await run(stringd, '/open conflict.md');
  expect(await run(stringd, '/write ~/conflict.md\nmine')).toMatchObject({ code: null });
  writeFileSync(path, 'theirs again\n');
  expect((await run(stringd, '/edit ~/conflict.md\nmine')).code).toBe('CONFLICT');
  expect((await run(stringd, '/edit --force ~/conflict.md\nmine')).code).toBeNull();
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

verifies('string/edit/forms', async () => {
  const stringd = shared();
  const path = join(stringd.home, 'forms/a.md');
  const is = async (cmd: string, answer: RegExp, content: string): Promise<void> => {
    const { text } = await run(stringd, cmd, 'forms');
    expect(text).toMatch(answer);
    expect(readFileSync(path, 'utf8')).toBe(content);
  };
  await is(
    '/write forms/a.md\n# A\nx\n',
    /^Created: forms\/a\.md \(6 bytes, 2 lines\)\n---\n1 \+ # A\n2 \+ x\n---\nUse \/undo/u,
    '# A\nx\n',
  );
  await is('/append forms/a.md y', /^Appended to: forms\/a\.md \(now 7 bytes\)\n---\n/u, '# A\nx\ny');
  await is(
    '/edit forms/a.md',
    /^\[editing: forms\/a\.md\]\n---\n 1 \| # A\n 2 \| x\n 3 \| y\n\n\(3 lines\)$/u,
    '# A\nx\ny',
  );
  await is('/edit forms/a.md#a\nz', /^Edited forms\/a\.md#a \(1 lines\)\n---\n/u, '# A\nz');
  await is(
    '/replace forms/a.md\nz\n---\nzz',
    /^Replaced 1 occurrence in forms\/a\.md\n---\n1 1 \| # A\n2   - z\n {2}2 \+ zz\n/u,
    '# A\nzz',
  );
  await is('/replace forms/a.md --all\nz\n---\nq', /^Replaced 2 occurrences in forms\/a\.md\n/u, '# A\nqq');
  await is('/replace forms/a.md:L2\nb', /^Replaced forms\/a\.md:L2\n/u, '# A\nb');
  await is('/verify forms/a.md#a', /^Verified forms\/a\.md#a \(2 lines, 5 chars\)\n---\n# A\nb$/u, '# A\nb');
  await is('/write forms/a.md\n', /^ERROR\(INVALID_TARGET\): Usage: /u, '# A\nb');
  await is(
    '/write forms/a.md\nb',
    /^Written: forms\/a\.md \(1 bytes, 1 lines\)\n---\n1 {3}- # A\n2 1 \| b\n---\n/u,
    'b',
  );
});

verifies('string/edit/codes', async () => {
  const stringd = shared();
  writeFileSync(join(stringd.home, 'codes.md'), 'x x\n');
  const code = async (cmd: string): Promise<string | null> => (await run(stringd, cmd, 'codes')).code;
  expect(await code('/append none.md\nx')).toBe('NOT_FOUND');
  expect(await code('/edit none.md')).toBe('NOT_FOUND');
  expect(await code('/edit codes.md#none\nx')).toBe('NOT_FOUND');
  expect(await code('/verify codes.md#none')).toBe('NOT_FOUND');
  expect(await code('/verify codes.md')).toBe('INVALID_TARGET');
  expect(await code('/replace codes.md\nx\n---\ny')).toBe('CONFLICT');
  expect(await code('/replace codes.md\ny\n---\nz')).toBe('NOT_FOUND');
  expect(await code('/replace codes.md\nx')).toBe('INVALID_PAYLOAD');
  expect(await code('/replace codes.md:L2\nx')).toBe('INVALID_TARGET');
  expect(await code('/write')).toBe('INVALID_TARGET');
  expect(await run(stringd, '/undo', 'codes')).toEqual({
    code: 'NOT_FOUND',
    text: 'ERROR(NOT_FOUND): Nothing to undo.',
  });
  expect(readFileSync(join(stringd.home, 'codes.md'), 'utf8')).toBe('x x\n');
});

verifies('string/edit/undo', async () => {
  const base = makeBase();
  try {
    const path = join(base, 'string/agents/me/u.md');
    {
      await using stringd = await StringdUnderTest.start({ base, port: await freePort() });
      await run(stringd, '/write u.md\none\n');
      await run(stringd, '/append u.md\ntwo\n');
      expect((await run(stringd, '/write u.md\nthree\n')).text).toContain(HINT);
      stringd.child.kill('SIGKILL');
      await stringd.ended;
    }
    await using stringd = await StringdUnderTest.start({ base, port: await freePort() });
    expect((await run(stringd, '/undo')).text).toBe('Undo: reverted ~/u.md (2 lines)\none\ntwo\n');
    expect((await run(stringd, '/undo')).text).toBe('Undo: reverted ~/u.md (1 lines)\none\n');
    expect(readFileSync(path, 'utf8')).toBe('one\n');
    expect((await run(stringd, '/undo')).text).toBe('Undo: deleted ~/u.md (was newly created)');
    expect((await run(stringd, '/undo')).code).toBe('NOT_FOUND');
  } finally {
    removeFolder(base);
  }
});

verifies('string/edit/confined', async () => {
  const stringd = shared();
  const outside = join(stringd.base, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'x.md'), 'theirs');
  symlinkSync(outside, join(stringd.home, 'out'));
  for (const path of [join(outside, 'x.md'), 'out/x.md', '~/../../../outside/x.md'])
    for (const cmd of [`/write --force ${path}\nx`, `/append ${path}\nx`, `/edit ${path}`])
      expect((await run(stringd, cmd)).code, cmd).toBe('FILE_NOT_ALLOWED');
  expect(readFileSync(join(outside, 'x.md'), 'utf8')).toBe('theirs');
});
