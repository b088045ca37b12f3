// The sample apps, as their READMEs show them.

import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bin, Program, run } from '../helpers/program.js';
import { StringPlace } from '../helpers/string-place.js';

const APPS = fileURLToPath(new URL('../../examples/apps', import.meta.url));

/** What bash prints when it does what the README says, in a folder that has the samples and a repository. */
async function follow(place: StringPlace, app: string): Promise<string> {
  const work = join(place.folder, 'work');
  cpSync(APPS, join(work, 'examples/apps'), { recursive: true });
  mkdirSync(join(place.folder, 'bin'));
  const string = join(place.folder, 'bin/string');
  writeFileSync(string, `#!/bin/sh\nexec '${process.execPath}' '${bin('string')}' "$@"\n`);
  chmodSync(string, 0o755);
  const [, commands = ''] =
    /^```sh\n(.*?)^```/ms.exec(readFileSync(join(APPS, app, 'README.md'), 'utf8')) ?? [];
  const git = 'git -c user.name=Me -c user.email=me@example.org';
  const script = `set -e\ngit init -q\n${git} commit -q --allow-empty -m 'The first of all'\n${commands}`;
  const env = {
    ...place.env,
    PATH: `${join(place.folder, 'bin')}:${place.env['PATH'] ?? ''}`,
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const result = await run(['/bin/bash', '-c', script], { cwd: work, env });
  expect(result, result.stdout).toMatchObject({ code: 0, stderr: '' });
  return result.stdout;
}

/** What an agent that speaks MCP is told of the inbox of `demo`. */
async function toldByChannel(place: StringPlace): Promise<unknown> {
  await using server = new Program([process.execPath, bin('string'), '--mcp', '--agent', 'demo'], {
    env: place.env,
  });
  const info = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  server.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: info })}\n`);
  await server.line();
  server.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  for (let line = await server.line(); line !== undefined; line = await server.line()) {
    const message = JSON.parse(line) as { method?: string; params?: unknown };
    if (message.method === 'notifications/claude/channel') return message.params;
  }
  return undefined;
}

test('gitpeek looks around a repository', async () => {
  await using place = await StringPlace.make();
  const out = await follow(place, 'gitpeek');
  expect(out).toContain('Would install app:gitpeek');
  expect(out).toContain('status: git -C {repo} status --short --branch');
  expect(out).toContain('Installed app:gitpeek');
  expect(out).toMatch(/Newest commits:\n- @commit-1 `[0-9a-f]{7,}` The first of all — Me\n/u);
  expect(out).toMatch(/commit [0-9a-f]{40}\nAuthor: Me/u);
  expect(out).toMatch(/^[0-9a-f]{7,} The first of all$/mu);
  expect(out).toMatch(/Exit 0\n## /u);
});

test('shelf keeps notes in the folder of its config', async () => {
  await using place = await StringPlace.make();
  const out = await follow(place, 'shelf');
  expect(out).toContain('[nav] main — first view\n[Shelf][@main.home]\n[Tips][@main.tips]');
  expect(out).toContain('One shelf for each purpose');
  expect(out).toContain('- @note-1 first.md (31 bytes)');
  expect(out).toMatch(/## Matches\n\S*\/notes\/first\.md:3:It says hello\./u);
  expect(out).toContain('Replaced 1 occurrence');
  expect(out).toContain('Undo: reverted');
  expect(out).toContain('- @note-1 näxt one.md (9 bytes)');
  expect(readFileSync(join(place.folder, 'work/notes/first.md'), 'utf8')).toBe(
    '# A first note\n\nIt says hello.\n',
  );
});

test('taskd talks to its server, and a reminder comes by the webhook', async () => {
  await using place = await StringPlace.make();
  const out = await follow(place, 'taskd');
  expect(out).toContain('Added #1: Water the plants');
  expect(out).toMatch(/1 task\(s\), HTTP 200\n- @task-1 \[open\] Water the plants\n/u);
  expect(out).toContain('Authorization: Bearer $TASKD_TOKEN');
  expect(out).toMatch(/pending\b.*reminder: Water the plants/u);
  expect(out).toContain('Done: Water the plants');
  expect(out).toContain('- @task-1 [done] Water the plants');
  expect(await toldByChannel(place)).toMatchObject({
    content: 'reminder: Water the plants',
    meta: { agent_id: 'demo' },
  });
  const shown = out.replace('$TASKD_TOKEN = "secret-token" (taskd)', '');
  expect(shown).not.toContain('secret-token');
});
