// What /open finds beside paths: tools by their names, and a tab of its own for what is opened.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOpenArguments } from '../../../src/string/open-arguments.js';
import { targetOf } from '../../../src/string/redirect.js';
import { removeFolder } from '../../helpers/remove-folder.js';
import { makePlace, topicOf } from './place.js';

const tool = (name: string, text: string): string =>
  `---\nname: ${name}\ntype: tool\n---\n# ${text}\n\n\`\`\`act.go\nCLI echo went {x}\n  x: string (optional) = "far"\n\`\`\`\n`;

test('tools are opened by their names: of the home, of this machine, by what they are called', async () => {
  const toolsDir = mkdtempSync(join(tmpdir(), 'tools-'));
  try {
    await using place = makePlace({ toolsDir });
    mkdirSync(join(place.home, 'tools'));
    writeFileSync(join(place.home, 'tools/own.md'), tool('called', 'Own'));
    writeFileSync(join(toolsDir, 'shared.md'), tool('everybody', 'Shared'));
    writeFileSync(join(toolsDir, 'own.md'), tool('own', 'Hidden'));
    const run = async (cmd: string): Promise<string> => (await place.run('main', cmd)).content;
    expect(await run('/open tool:own')).toContain(`Opened ${place.home}/tools/own.md\n---\n`);
    expect(await run('/open tool:called')).toContain('# Own');
    expect(await run('/open tool:shared')).toContain(`Opened ${toolsDir}/shared.md\n---\n[actions] go`);
    expect(await run('/open tool:everybody#shared')).toContain('# Shared');
    // It is open like any other page, but not the agent's to change.
    expect(await run('/act.go near')).toContain('went near');
    expect(await run('/refresh')).toContain('# Shared');
    await place.restart();
    expect(await run('/source')).toContain('name: everybody');
    expect(await place.run('main', '/write #shared\nmine')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    expect(await place.run('main', `/open ${join(toolsDir, '../x.md')}`)).toMatchObject({
      code: 'FILE_NOT_ALLOWED',
    });
    expect(await place.run('main', '/open tool:none')).toMatchObject({
      code: 'NOT_FOUND',
      content: "Tool 'none' is not installed.\nInstalled: (none)",
    });
    expect(await place.run('main', '/open tool:../x')).toMatchObject({ code: 'INVALID_TARGET' });
    const hub = (await place.run('tool', '/open')).content;
    expect(hub).toContain('## Installed (0)\n  (none)\n\n## In ~/tools (1)\n  own  ~/tools/own.md\n\n');
    expect(hub).toContain(
      `## On this machine (2)\n  own  ${toolsDir}/own.md\n  shared  ${toolsDir}/shared.md\n\n## Run\n`,
    );
  } finally {
    removeFolder(toolsDir);
  }
});

test('/open --tab opens in a tab of its own, with what is known here and without its history', async () => {
  await using place = makePlace();
  mkdirSync(join(place.home, 'docs'));
  writeFileSync(join(place.home, 'docs/index.md'), '# Index\n[@next Next](next.md)\n');
  writeFileSync(join(place.home, 'docs/next.md'), '# Next\n');
  await place.run('main', '/open docs/index.md');
  await place.run('main', '/set city = "Seoul"');
  const forked = await place.run('main', '/open @next --tab side');
  expect(forked).toMatchObject({
    content: `Opened ${place.home}/docs/next.md\n---\n# Next`,
    topic: { name: 'side', type: 'tab' },
    meta: { uri: `file://${place.home}/docs/next.md`, history_length: 0 },
  });
  expect((await place.run('side', '/set')).content).toContain('{city} = "Seoul"');
  expect((await place.run('main', '/info')).content).toContain('~/docs/index.md');
  // One that is there already keeps what it knows.
  await place.run('main', '/set city = "Busan"');
  expect((await place.run('main', '/open --tab=side index.md')).meta).toMatchObject({ history_length: 1 });
  expect((await place.run('side', '/set')).content).toContain('{city} = "Seoul"');
  // Alone it is the page that is open here.
  expect((await place.run('main', '/open --tab web:copy')).content).toContain('docs/index.md\n');
  expect((await place.run('web:copy', '/info')).content).toContain('~/docs/index.md');
  for (const name of ['app:x', 'bash:x', 'event', 'no/name', ''])
    expect(await place.run('main', `/open @next --tab ${name}`)).toMatchObject({
      code: 'INVALID_TARGET',
      content: `Not a tab: ${name}\nUsage: /open TARGET --tab NAME`,
    });
  expect((await place.run('main', '/topics')).content).not.toContain('bash:x');
});

test('the options of /open stand before the target or behind it', () => {
  expect(readOpenArguments(' a b.md ')).toEqual({ target: 'a b.md' });
  expect(readOpenArguments('--tab x a b.md --lines 1-2')).toEqual({
    target: 'a b.md',
    tab: 'x',
    lines: '1-2',
  });
  expect(readOpenArguments('--lines=3 --tab=x a.md')).toEqual({ target: 'a.md', tab: 'x', lines: '3' });
  expect(readOpenArguments('a.md --lines')).toEqual({ target: 'a.md', lines: '' });
  expect(readOpenArguments('a--tab x')).toEqual({ target: 'a--tab x' });
  expect(readOpenArguments('--tabs x')).toEqual({ target: '--tabs x' });
  const waitsFor = (cmd: string): string => targetOf(topicOf('main'), cmd).name;
  expect(waitsFor('/open a.md --tab x')).toBe('x');
  expect(waitsFor('/open --tab file:x a.md')).toBe('x');
  for (const cmd of ['/open a.md --tab', '/open a.md --tab bash:x', '/open a--tab x', '/edit a.md --tab x'])
    expect([cmd, waitsFor(cmd)]).toEqual([cmd, 'main']);
});
