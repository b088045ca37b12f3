import { expect, test } from 'vitest';
import { BenchChild } from '../../../bench/harness/child.js';
import { LineClient } from '../../../bench/harness/line-client.js';
import { dataBytes, runCommands, SILENCE_MS } from '../../../bench/suites/rexd/commands.js';
import { inWorkspace } from '../../../bench/suites/rexd/workspace.js';

/** A rexd that answers every exec.start by what `events` gives for it, in one piece: nothing in it comes late. */
async function fakeRexd(events: string): Promise<BenchChild> {
  const script = `
    let said = '';
    const say = (message) => (said += JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    const out = (id, data) => say({ method: 'exec.stdout', params: { process_id: 'p' + id, data } });
    const exit = (id) => say({ method: 'exec.exit', params: { process_id: 'p' + id, exit_code: 0 } });
    const reply = (id) => say({ id, result: { process_id: 'p' + id } });
    const events = ${events};
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      events(JSON.parse(line).id);
      process.stdout.write(said);
      said = '';
    });`;
  return BenchChild.start('fake', [process.execPath, '-e', script]);
}

const plan = (times: number, atOnce = 1) => ({ argv: ['cat', 'x'], times, atOnce });

test('output that arrived is counted in bytes, escapes as what they stand for', async () => {
  await using child = await fakeRexd(
    `(id) => { reply(id); out(id, 'abc\\n'); out(id, 'de\\n\\n'); exit(id); }`,
  );
  const count = await runCommands(new LineClient(child), 's', plan(5));
  expect(count).toMatchObject({ exits: 5, bytes: 5 * 8 });
});

test('an exit that is told before the answer counts as one', async () => {
  await using child = await fakeRexd(`(id) => { exit(id); reply(id); }`);
  expect(await runCommands(new LineClient(child), 's', plan(6, 3))).toMatchObject({ exits: 6, bytes: 0 });
});

test('a lost exit is given up after a silence, which is no part of the time', async () => {
  await using child = await fakeRexd(`(id) => { reply(id); if (id !== 2) exit(id); }`);
  const before = performance.now();
  const count = await runCommands(new LineClient(child), 's', plan(3));
  const took = performance.now() - before;
  expect(count.exits).toBe(2);
  // The last look may come right after the last word, so that a silence is a look shorter than it is said to be.
  expect(took - count.wallMs).toBeGreaterThan(SILENCE_MS / 2);
});

test('a command that is refused stops the run with what was said', async () => {
  await using child = await fakeRexd(`(id) => say({ id, error: { code: -32001, message: 'not here' } })`);
  await expect(runCommands(new LineClient(child), 's', plan(1))).rejects.toThrow(/refused.*not here/);
});

test.each([
  ['{"params":{"data":"","seq":1}}', 0],
  ['{"params":{"data":"abc\\\\n\\\\n","seq":1}}'.replaceAll('\\\\', '\\'), 5],
  ['{"params":{"seq":1}}', 0],
])('%s stands for %d bytes', (line, bytes) => {
  const around = Buffer.from(`"data":"before"${line}"data":"after"`);
  const start = '"data":"before"'.length;
  expect(dataBytes(around, start, start + line.length)).toBe(bytes);
});

test('a peer is told where the configuration and the root are', () => {
  const workspace = { root: '/w/root', config: '/w/c.toml' };
  expect(inWorkspace(['rexd', '--config={config}', '{root}', '{other}'], workspace)).toEqual([
    'rexd',
    '--config=/w/c.toml',
    '/w/root',
    '{other}',
  ]);
});
