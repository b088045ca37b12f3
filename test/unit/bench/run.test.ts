import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command as npm runs it, without npm. */
function bench(...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', 'bench/run.ts', ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

test('--help and --list go to stdout', async () => {
  const [help, list] = await Promise.all([bench('--help'), bench('--list')]);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('Usage: npm run bench');
  expect(list.stdout).toMatch(/^splitter +\S/m);
});

test('an unknown suite is a usage error on stderr', async () => {
  const ran = await bench('splitters');
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toMatch(/^bench: no suite is called splitters; there are: /);
});

test('a peer for a suite that takes none is refused', async () => {
  expect(await bench('splitter', '--peer', 'x=true')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no peer'),
  });
});

test('a peer that ends at once is reported with what it printed on stderr', async () => {
  const ran = await bench('jsonrpc', '--quick', '--peer', `broken=sh -c 'echo no licence >&2; exit 4'`);
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr).toContain('broken exited with code 4; its stderr says:\n    no licence');
});

test('--json prints one JSON object and nothing else on stdout', async () => {
  const ran = await bench('splitter', '--quick', '--rounds', '1', '--json', '--no-fail');
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ results: [{ suite: 'splitter', rounds: 1 }], skipped: [] });
});
