// rex exec as its users run it: the built executable, real processes, whole streams.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from '../helpers/proc.js';
import { bin } from '../helpers/program.js';
import { rexHome } from '../helpers/rex.js';
import { until } from '../helpers/wait.js';

const home = rexHome();
afterAll(() => home[Symbol.asyncDispose]());

const sh = (script: string): string[] => ['exec', 'local', '--', 'sh', '-c', script];

test('output, errors and the exit code are those of the command, which runs where we are', async () => {
  const { stdout, stderr, code } = await home.rex(sh('pwd; echo oops >&2; exit 7'));
  expect([stdout, stderr, code]).toEqual([`${home.folder}\n`, 'oops\n', 7]);
});

test('words are passed on as they are, without a shell', async () => {
  const { stdout } = await home.rex(['exec', 'local', '--', 'printf', '%s|', 'a b', '$HOME', '--json', '*']);
  expect(stdout).toBe('a b|$HOME|--json|*|\n'.slice(0, -1).concat('\n'));
});

test('options may stand before and after the target; the command may come without --', async () => {
  const before = await home.rex(['exec', '--cwd', '/', 'local', '--', 'pwd']);
  const after = await home.rex(['exec', 'local', '--cwd=/', '--', 'pwd']);
  const global = await home.rex(['--cwd', '/', 'exec', 'local', 'pwd']);
  expect([before.stdout, after.stdout, global.stdout]).toEqual(['/\n', '/\n', '/\n']);
});

test('a line for the shell, and variables by value, by name and by file', async () => {
  writeFileSync(join(home.folder, 'vars'), '# a comment\nONE=1 2\n\nTWO=two=2\n');
  const { stdout } = await home.rex(
    [
      'exec',
      'local',
      '-c',
      'echo "$ONE|$TWO|$THREE|$SECRET" | cat',
      '-e',
      'THREE=3',
      '-e',
      'SECRET',
      '--env-from',
      'vars',
    ],
    { env: { SECRET: 'hush' } },
  );
  expect(stdout).toBe('1 2|two=2|3|hush\n');
});

test('a command that a signal ends gives 128 and its number; one out of time gives 124', async () => {
  expect((await home.rex(sh('kill -9 $$'))).code).toBe(137);
  // Until the command runs the time is rex's own, which is told in other words: enough for any start.
  const late = await home.rex(['exec', 'local', '--timeout', '5s', '--', 'sleep', '600']);
  expect([late.code, late.stderr]).toEqual([124, expect.stringContaining('time was up')]);
});

test('what cannot be is said, with what to do about it', async () => {
  const cases: [string[], number, RegExp][] = [
    [['exce', 'local'], 2, /unknown command "exce"; did you mean exec\?/],
    [['exec', 'local'], 2, /which command\?/],
    [['exec', 'nowhere', '--', 'true'], 1, /no target "nowhere"/],
    [['exec', 'local', '--', 'no-such-program'], 1, /no-such-program/],
    [['exec', 'local', '--timeout', 'soon', '--', 'true'], 2, /"soon" is no time/],
    [['exec', 'local', '-e', 'NOT_THERE_AT_ALL', '--', 'true'], 2, /no such variable/],
    [['exec', 'local', 'x', '--', 'true'], 2, /goes after --/],
    [['exec', 'local', '--shell', 'true', '--', 'true'], 2, /not both/],
    [['exec', '--bogus', 'local', '--', 'true'], 2, /unknown option/],
    [[], 2, /Usage: rex/],
  ];
  for (const [args, code, said] of cases) {
    const result = await home.rex(args);
    expect([args, result.code, result.stderr]).toEqual([args, code, expect.stringMatching(said)]);
    expect(result.stdout).toBe('');
  }
});

test('help and version go to stdout; every command has examples', async () => {
  expect(await home.rex(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^rex \d/) });
  const help = await home.rex(['--help']);
  expect([help.code, help.stderr]).toEqual([0, '']);
  const commands = [...help.stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name ?? '');
  expect(commands).toEqual(expect.arrayContaining(['exec', 'keep']));
  expect((await home.rex(['help', 'exec'])).stdout).toContain('Examples:');
});

test('50 MB of anything come through unchanged, in and out', async () => {
  const bytes = randomBytes(50_000_000);
  const file = join(home.folder, 'big');
  writeFileSync(file, bytes);
  const sum = createHash('sha256').update(bytes).digest('hex');
  expect(await hashOfOutput(['exec', 'local', '--', 'cat', file])).toBe(sum);
  expect(await hashOfOutput(['exec', 'local', '--', 'cat'], file)).toBe(sum);
});

async function hashOfOutput(args: string[], input?: string): Promise<string> {
  const stdin = input === undefined ? 'ignore' : openSync(input, 'r');
  const child = spawn(process.execPath, [bin('rex'), ...args], {
    stdio: [stdin, 'pipe', 'inherit'],
    env: { ...process.env, ...home.env },
  });
  const hash = createHash('sha256');
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest('hex');
}

test('a command that does not read its input is not waited for by whoever writes', async () => {
  await using program = home.start(['exec', 'local', '--', 'true']);
  expect(await program.ended).toEqual({ code: 0, signal: null }); // its stdin is open still
});

test('input arrives as it is written, and its end ends the command', async () => {
  await using program = home.start(['exec', 'local', '--', 'cat']);
  program.write('one\n');
  expect(await program.line()).toBe('one');
  program.endInput();
  expect(await program.ended).toEqual({ code: 0, signal: null });
});

test('a reader that has seen enough ends it quietly, with the command', async () => {
  const marker = join(home.folder, 'yes-pid');
  const rex = `"${process.execPath}" "${bin('rex')}"`;
  const child = spawn('sh', ['-c', `${rex} exec local -- sh -c 'echo $$ > ${marker}; exec yes' | head -2`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...home.env },
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const lines = await child.stdout.toArray();
  expect(Buffer.concat(lines as Buffer[]).toString()).toBe('y\ny\n');
  await once(child, 'close');
  expect(stderr).toBe('');
});

test('Ctrl-C reaches the command, which may end as it likes', async () => {
  await using program = home.start(
    sh('trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.1; done'),
  );
  expect(await program.line()).toBe('ready');
  program.child.kill('SIGINT');
  expect(await program.line()).toBe('caught');
  expect(await program.ended).toEqual({ code: 5, signal: null });
});

test('a second Ctrl-C kills a command that does not listen', async () => {
  await using program = home.start(sh('trap "echo no" INT; echo $$; while :; do sleep 0.1; done'));
  const pid = Number(await program.line());
  program.child.kill('SIGINT');
  expect(await program.line()).toBe('no');
  program.child.kill('SIGINT');
  expect(await program.ended).toEqual({ code: 137, signal: null });
  expect(isAlive(pid)).toBe(false);
});

test.each(['SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
  '%s of rex ends the whole tree there',
  async (signal) => {
    await using program = home.start(sh('sleep 300 & echo $!; wait'));
    const pid = Number(await program.line());
    program.child.kill(signal);
    await program.ended;
    await expect(until(() => !isAlive(pid), 'the child of the command to end')).resolves.toBe(true);
  },
);

test('for programs: one object, or lines as it happens', async () => {
  const { stdout, code } = await home.rex(['--json', ...sh('echo out; echo err >&2; exit 4')]);
  expect([code, JSON.parse(stdout)]).toEqual([
    4,
    expect.objectContaining({
      exit_code: 4,
      signal: null,
      timed_out: false,
      stdout: 'out\n',
      stderr: 'err\n',
    }),
  ]);
  const events = await home.rex(['exec', 'local', '--events', '--', 'printf', '\\377']);
  expect(
    events.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object),
  ).toEqual([
    expect.objectContaining({ event: 'start' }),
    { event: 'stdout', data: '/w==', encoding: 'base64' },
    expect.objectContaining({ event: 'exit', exit_code: 0 }),
  ]);
});

test('a configuration is honoured', async () => {
  const config = join(home.folder, 'strict');
  await home.rex(sh(`mkdir -p ${config}/rexd`));
  writeFileSync(
    join(config, 'rexd/config.toml'),
    `[limits]\nmax_output_bytes = 10\n[[security.allowed_roots]]\npath = ${JSON.stringify(home.folder)}\n`,
  );
  const strict = { env: { XDG_CONFIG_HOME: config } };
  expect(await home.rex(['exec', 'local', '--cwd', '/', '--', 'true'], strict)).toMatchObject({ code: 1 });
  const cut = await home.rex(['exec', 'local', '--', 'seq', '100'], strict);
  expect([cut.stdout, cut.stderr]).toEqual(['1\n2\n3\n4\n5\n', expect.stringContaining('max_output_bytes')]);
});
