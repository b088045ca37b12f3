// The tools of an agent on a real rexd.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newAbort } from '../../src/base/abort.js';
import { connectTarget } from '../../src/client/rex/connect-target.js';
import type { RexClient } from '../../src/client/rex/rex-client.js';
import { MAX_COMMAND_OUTPUT_BYTES, PROGRESS_INTERVAL_MS } from '../../src/client/rex/tools/bash.js';
import { MAX_HEAD_BYTES, MAX_TAIL_BYTES } from '../../src/client/rex/tools/excerpt.js';
import { MAX_FOUND, MAX_FOUND_LINE_CHARS, MAX_LISTED } from '../../src/client/rex/tools/find-files.js';
import { MAX_WAITING_COMMANDS } from '../../src/client/rex/tools/host.js';
import { MAX_IMAGE_BYTES, MAX_SCAN_BYTES } from '../../src/client/rex/tools/read.js';
import { RexTools } from '../../src/client/rex/tools.js';
import { bin } from '../helpers/program.js';
import { descendants } from '../helpers/proc.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

/** For what takes a moment, on a machine that has much else to do. */
const PATIENCE_MS = 60_000;

let folder: string;
let client: RexClient;
let tools: RexTools;

const connect = (): Promise<RexClient> =>
  connectTarget(
    { alias: 'local', target: undefined, why: '' },
    {
      clientName: 'test',
      localCommand: [
        process.execPath,
        bin('rexd'),
        '--stdio',
        '--root',
        folder,
        '--config',
        join(folder, '.none'),
      ],
    },
  );

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-tools-')));
  writeFileSync(join(folder, '.none'), '');
  client = await connect();
  tools = new RexTools(client);
});

afterEach(async () => {
  await client.close();
  removeFolder(folder);
});

const at = (name: string): string => join(folder, name);
const put = (name: string, text: string | Buffer): void => writeFileSync(at(name), text);
const say = async (name: string, args: unknown): Promise<string> => (await tools.runTool(name, args)).text;
const refused = async (name: string, args: unknown): Promise<string> => {
  const { text, isError } = await tools.runTool(name, args);
  expect(isError, text).toBe(true);
  return text;
};

test('bash tells output, errors and exit code, and does not wait for input that never comes', async () => {
  const result = await tools.runTool('bash', { command: 'cat; echo out; echo err >&2; exit 3' });
  expect(result.structured).toMatchObject({ exit_code: 3, stdout: 'out\n', stderr: 'err\n' });
  expect(result.text).toMatch(/out\n[^]*\[exit code 3\]$/);
  expect(result.isError).toBeUndefined();
  expect(await say('bash', { command: 'true' })).toBe('(no output)');
  expect(await say('bash', { command: 'cat', stdin: 'given' })).toBe('given');
  mkdirSync(at('sub'));
  expect(await say('bash', { command: 'pwd', cwd: 'sub' })).toBe(`${at('sub')}\n`);
});

test('bash that takes too long is killed, and what to do is said', async () => {
  const text = await refused('bash', { command: 'echo begun; sleep 1000', timeout_ms: '3000' });
  expect(text).toMatch(/^begun\n\[killed: it took longer than 3000 ms\. Give a larger timeout_ms/);
});

test('bash with much output gives both ends, and read gives the rest', async () => {
  const { text, structured } = await tools.runTool('bash', { command: 'seq 1 20000' });
  expect(text.length).toBeLessThan(MAX_HEAD_BYTES + MAX_TAIL_BYTES + 200);
  expect(text).toMatch(/^1\n2\n/);
  expect(text).toMatch(/\n19999\n20000\n$/);
  const [, path, line] = /read \{"path":"(output:\d+)","start_line":(\d+)\}/.exec(text) ?? [];
  expect(structured).toMatchObject({ exit_code: 0, full_output: path });
  const rest = await say('read', { path, start_line: line });
  expect(rest).toMatch(new RegExp(`^${line}\t${line}\n`));
  expect(await refused('read', { path: 'output:99' })).toContain('not kept any more');
});

test('bash that writes more than the target allows is ended, and what to do is said', async () => {
  const { max_output_bytes: most } = client.session.limits;
  expect(most).toBeLessThan(MAX_COMMAND_OUTPUT_BYTES);
  const text = await refused('bash', { command: 'yes' });
  expect(text).toContain(`[killed: it wrote more than the ${most} bytes`);
});

test('bash tells how it goes, and is killed with its tree when it is called off', async () => {
  const abort = new AbortController();
  const steps: { progress: number; message?: string }[] = [];
  const running = tools.runTool(
    'bash',
    { command: 'echo step one; sleep 1000 & sleep 1000' },
    { signal: abort.signal, onProgress: (step) => steps.push(step) },
  );
  running.catch(() => {});
  const told = await until(() => steps.find(({ message }) => message === 'step one'), 'progress');
  expect(told.progress * 1000).toBeGreaterThanOrEqual(PROGRESS_INTERVAL_MS);
  await until(() => sleepers() === 2, 'the tree to run', PATIENCE_MS);
  abort.abort(new Error('called off'));
  await expect(running).rejects.toThrow('called off');
  await until(() => sleepers() === 0, 'the tree to end', PATIENCE_MS);
});

function sleepers(): number {
  return descendants(process.pid).filter(({ command }) => command === 'sleep 1000').length;
}

test('more commands at once than the target allows wait their turn, up to MAX_WAITING_COMMANDS', async () => {
  const { max_processes_per_session: slots } = client.session.limits;
  const runs = Array.from({ length: slots * 3 }, (_, i) => say('bash', { command: `echo ${i}` }));
  expect(await Promise.all(runs)).toEqual(runs.map((_, i) => `${i}\n`));
  const abort = newAbort();
  const blocked = Array.from({ length: slots + MAX_WAITING_COMMANDS }, () =>
    tools.runTool('bash', { command: 'sleep 1000' }, { signal: abort.signal }).catch(() => {}),
  );
  expect(await refused('bash', { command: 'true' })).toContain('the queue is full');
  abort.abort();
  await Promise.all(blocked);
});

test('a command that the target refuses is told with what is allowed', async () => {
  expect(await refused('bash', { command: 'pwd', cwd: '/etc' })).toBe(
    `bash: Path is outside allowed roots\nAllowed here: ${folder}`,
  );
});

test('read gives numbered lines, ranges, and how to go on', async () => {
  put('a.txt', Array.from({ length: 3000 }, (_, i) => `line ${i + 1}\n`).join(''));
  const { text, structured } = await tools.runTool('read', { path: 'a.txt' });
  expect(text.startsWith('1\tline 1\n2\tline 2\n')).toBe(true);
  expect(text).toMatch(/2000\tline 2000\n\[more follows: go on with start_line 2001\]$/);
  expect(structured).toMatchObject({ start_line: 1, end_line: 2000, next_line: 2001 });
  expect(await say('read', { path: 'a.txt', start_line: 7, end_line: 8 })).toBe('7\tline 7\n8\tline 8');
  expect(await say('read', { file_path: at('a.txt'), start_line: -2 })).toBe(
    '2999\tline 2999\n3000\tline 3000',
  );
  expect(await refused('read', { path: 'a.txt', start_line: 4000 })).toContain('has 3000 lines');
  expect(await refused('read', { path: 'a.txt', start_line: 5, end_line: 4 })).toContain('before line 5');
});

test('read of what is no text says so; an image is given as one', async () => {
  put('empty', '');
  put('binary', Buffer.from([0x7f, 0, 1, 2]));
  const png = Buffer.from('89504e470d0a1a0a0000', 'hex');
  put('a.png', png);
  put('b.png', Buffer.concat([png, Buffer.alloc(MAX_IMAGE_BYTES)]));
  expect(await say('read', { path: 'empty' })).toBe('(the file is empty)');
  expect(await refused('read', { path: 'binary' })).toContain('binary file of 4 bytes');
  expect((await tools.runTool('read', { path: 'a.png' })).content).toEqual([
    { type: 'image', mimeType: 'image/png', data: png.toString('base64') },
  ]);
  expect(await refused('read', { path: 'b.png' })).toContain(`at most ${MAX_IMAGE_BYTES} can be shown`);
  expect(await refused('read', { path: 'nowhere' })).toBe(
    'read: no such file or directory\nLook for the right path with list or glob.',
  );
  expect(await refused('read', { path: '.' })).toBe('read: is a directory\nUse list for a folder.');
});

test('lines are looked for in the first MAX_SCAN_BYTES of a file', async () => {
  put('long', Buffer.concat([Buffer.alloc(MAX_SCAN_BYTES, 'x'), Buffer.from('\nlast\n')]));
  expect(await refused('read', { path: 'long', start_line: 2 })).toContain('Use bash: sed');
});

test('write makes folders, adds, and does not write over what somebody else has written since', async () => {
  expect(await say('write', { path: 'new/a.txt', content: 'one\n' })).toBe('Created new/a.txt (4 bytes)');
  expect(await say('write', { path: 'new/a.txt', content: 'two\n', mode: 'append' })).toContain('Added to');
  expect(readFileSync(at('new/a.txt'), 'utf8')).toBe('one\ntwo\n');
  expect(await refused('write', { path: 'new/a.txt', content: '', mode: 'create' })).toContain(
    'already exists',
  );
  touch('new/a.txt', 'theirs\n');
  expect(await refused('write', { path: 'new/a.txt', content: 'mine\n' })).toBe(
    'write: The file has changed\nRead the file again, then decide what to change.',
  );
  expect(readFileSync(at('new/a.txt'), 'utf8')).toBe('theirs\n');
  await say('read', { path: 'new/a.txt' });
  expect(await say('write', { path: 'new/a.txt', content: 'mine\n' })).toContain('Wrote');
});

test('edit replaces what is there once, and is refused on a file that somebody else has changed', async () => {
  put('a.txt', 'alpha beta beta\n');
  expect(await say('edit', { path: 'a.txt', old_string: 'alpha', new_string: 'gamma $&' })).toBe(
    'Edited a.txt (replaced once)',
  );
  expect(await refused('edit', { path: 'a.txt', old_string: 'beta', new_string: 'x' })).toContain(
    'matched multiple locations',
  );
  expect(await say('edit', { path: 'a.txt', old_str: 'beta', new_str: 'x', replace_all: true })).toContain(
    '2 times',
  );
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('gamma $& x x\n');
  expect(await refused('edit', { path: 'a.txt', old_string: '1\tgamma', new_string: 'y' })).toContain(
    'without line numbers',
  );
  touch('a.txt', 'gamma of theirs\n');
  expect(await refused('edit', { path: 'a.txt', old_string: 'gamma', new_string: 'y' })).toContain(
    'Read the file again',
  );
  await say('bash', { command: 'sed -i s/theirs/mine/ a.txt' });
  expect(await say('edit', { path: 'a.txt', old_string: 'gamma', new_string: 'delta' })).toContain('once');
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('delta of mine\n');
});

/** Somebody else writes, at another time than we did. */
function touch(name: string, text: string): void {
  put(name, text);
  const later = new Date(Date.now() + 5000);
  utimesSync(at(name), later, later);
}

test('list shows a folder, or the tree without what is ignored', async () => {
  mkdirSync(at('src/deep'), { recursive: true });
  mkdirSync(at('.git'));
  put('src/a.ts', '12345');
  put('src/deep/b.ts', '');
  put('debug.log', '');
  put('.gitignore', '*.log\n');
  expect((await say('list', {})).split('\n').sort()).toEqual(
    ['.git/', '.gitignore\t6', 'debug.log\t0', 'src/'].sort(),
  );
  expect((await say('list', { path: 'src', recursive: true })).split('\n').sort()).toEqual(
    ['a.ts\t5', 'deep/', 'deep/b.ts\t0'].sort(),
  );
  expect(await say('list', { recursive: true })).not.toContain('debug.log');
  for (let i = 0; i <= MAX_LISTED; i++) put(`src/deep/n${i}`, '');
  const many = await tools.runTool('list', { path: 'src/deep' });
  expect(many.structured?.['entries']).toHaveLength(MAX_LISTED);
  expect(many.text).toMatch(/\[more were found: narrow it down\]$/);
});

test('glob finds by name, and what is ignored only if there is nothing else', async () => {
  mkdirSync(at('src'));
  put('src/a.ts', '');
  put('src/b.log', '');
  put('.gitignore', '*.log\n');
  expect(await say('glob', { pattern: '**/*.{ts,log}' })).toBe('src/a.ts');
  expect(await say('glob', { pattern: '*.log', path: 'src' })).toBe(
    'src/b.log\n[all of these are left out by .gitignore]',
  );
  expect(await say('glob', { pattern: '*.rs' })).toBe('(nothing found)');
});

test('search finds lines by expression or as they are, with what is around them', async () => {
  put('a.txt', `one\ntwo foo(bar)\nthree\n${'z'.repeat(2000)} needle\n`);
  expect(await say('search', { query: 'fo+\\(' })).toBe('a.txt:2:two foo(bar)');
  expect(await say('search', { pattern: 'foo(' })).toBe(
    'a.txt:2:two foo(bar)\n[no regular expression; searched for as it is]',
  );
  expect(await say('search', { query: 'FOO(', regex: false, ignore_case: true })).toBe(
    'a.txt:2:two foo(bar)',
  );
  expect(await say('search', { query: 'two', context: 1 })).toBe(
    'a.txt-1-one\na.txt:2:two foo(bar)\na.txt-3-three\n--',
  );
  expect(await say('search', { query: 'nowhere' })).toBe('(nothing found)');
  expect(await say('search', { query: 'two', include: '*.md' })).toBe('(nothing found)');
  expect((await say('search', { query: 'needle' })).length).toBeLessThan(MAX_FOUND_LINE_CHARS + 50);
  put('many', 'hit\n'.repeat(MAX_FOUND + 1));
  const many = await tools.runTool('search', { query: 'hit' });
  expect(many.structured).toMatchObject({ truncated: true });
  expect(many.structured?.['matches']).toHaveLength(MAX_FOUND);
});

test('what looks is done again over a new connection, what changes is not', async () => {
  put('a.txt', 'text\n');
  const clients = [client];
  let calls = 0;
  const both = new RexTools(async () => {
    calls += 1;
    if (calls === 2) clients.push(await connect());
    return { client: clients.at(-1) ?? client };
  });
  await client.close();
  expect((await both.runTool('read', { path: 'a.txt' })).text).toBe('1\ttext');
  await clients.at(-1)?.close();
  const lost = await both.runTool('bash', { command: 'touch never' });
  expect(lost).toMatchObject({ isError: true, structured: { reason: 'connection_lost' } });
  expect(existsSync(at('never'))).toBe(false);
});
