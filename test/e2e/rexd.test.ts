// The executable rexd as people meet it: help, errors, signals, the end of its input.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VERSION } from '../../src/base/version.js';
import { MAX_CONFIG_BYTES } from '../../src/rexd/config-source.js';
import { bin, Program, run, type RunResult } from '../helpers/program.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

const OPEN = '{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"client_name":"t"}}';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-rexd-')));
});
afterEach(() => removeFolder(folder));

/** No configuration but the test's own: the machine's must not matter. */
const env = (): Record<string, string> => ({ XDG_CONFIG_HOME: folder, HOME: folder });
const rexd = (args: readonly string[], input = ''): Promise<RunResult> =>
  run([process.execPath, bin('rexd'), ...args], { env: env(), input, cwd: folder });

test('--version prints name and version', async () => {
  expect(await rexd(['--version'])).toMatchObject({ code: 0, stdout: `rexd ${VERSION}\n`, stderr: '' });
});

test('--help and -h print usage with examples and exit 0', async () => {
  for (const flag of ['--help', '-h']) {
    const { code, stdout, stderr } = await rexd([flag]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/Usage:[\s\S]*Options:[\s\S]*--stdio[\s\S]*Examples:[\s\S]*ssh /);
  }
});

test('wrong usage exits 2, says what is wrong and what to do, and keeps stdout clean', async () => {
  const wrong: [string[], RegExp][] = [
    [['--stdo'], /unknown option --stdo; did you mean --stdio\?/],
    [['--zzzzzzzz'], /unknown option --zzzzzzzz\n/],
    [['--root'], /--root needs a value: --root DIR/],
    [['--root', '--stdio'], /--root needs a value: --root DIR/],
    [['--stdio=yes'], /--stdio takes no value/],
    [['serve'], /unexpected argument "serve"/],
    [['--stdio', '--log-level', 'loud'], /--log-level: expected one of trace, .*got "loud"/],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await rexd(args);
    expect({ code, stdout }, args.join(' ')).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).toContain('Try: rexd --help');
  }
});

test.each(['/proc/audit.log', '/proc/self/task/audit/log', '/sys/audit.log'])(
  '--check refuses an audit log where only the kernel makes files: %s',
  async (path) => {
    const config = join(folder, 'kernel.toml');
    writeFileSync(config, `[audit]\nenabled = true\npath = "${path}"\n`);
    expect(await rexd(['--check', '--config', config])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('audit.path: no file can be made in /') as string,
    });
  },
);

test('a configuration that is wrong exits 2 and names the file and the key', async () => {
  const wrong: [string, RegExp][] = [
    ['[limits]\nmax_output_byte = 5', /limits\.max_output_byte: unknown (key|field).*max_output_bytes/],
    ['[limts]\n', /limts: unknown .*limits/],
    [
      '[limits]\nmax_output_bytes = 0',
      /limits\.max_output_bytes: expected a whole number of at least 1, got 0/,
    ],
    ['[limits]\nmax_output_bytes = "5"', /limits\.max_output_bytes: expected number, got string/],
    ['[server]\nlog_level = "loud"', /server\.log_level: expected .*"info"/],
    ['[[security.allowed_roots]]\n', /security\.allowed_roots\[0\]\.path/],
    ['[[security.allowed_roots]]\npath = "relative"', /relative/],
    [
      '[[security.allowed_roots]]\npath = "/no/such/folder"',
      /c\.toml: line 2: security\.allowed_roots\[0\]\.path: .*\/no\/such\/folder/,
    ],
    ['this is not toml', /TOML/i],
    [`# ${'x'.repeat(MAX_CONFIG_BYTES)}`, /larger than/],
  ];
  const file = join(folder, 'c.toml');
  for (const [text, message] of wrong) {
    writeFileSync(file, text);
    const { code, stdout, stderr } = await rexd(['--stdio', '--config', file], OPEN);
    expect({ code, stdout }, text.slice(0, 80)).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  expect(await rexd(['--config', join(folder, 'missing.toml'), '--check'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no such file'),
  });
});

test('the configuration is found in XDG_CONFIG_HOME, and --check says what it comes to', async () => {
  mkdirSync(join(folder, 'rexd'));
  const file = join(folder, 'rexd/config.toml');
  writeFileSync(
    file,
    `[server]\nreport_version = "9.9.9"\n[limits]\nmax_output_bytes = 77\n[[security.allowed_roots]]\npath = ${JSON.stringify(folder)}\n`,
  );
  const checked = await rexd(['--check', '--json']);
  expect(JSON.parse(checked.stdout)).toMatchObject({
    config: file,
    roots: [folder],
    limits: { max_output_bytes: 77 },
  });
  expect((await rexd(['--check'])).stdout).toContain('max_output_bytes = 77');
  expect(JSON.parse((await rexd(['--stdio'], OPEN)).stdout)).toMatchObject({
    result: { server_version: '9.9.9', limits: { max_output_bytes: 77 } },
  });
});

test('a named file counts for more than XDG_CONFIG_HOME, and that for more than HOME', async () => {
  const [home, xdg, named] = [
    join(folder, '.config/rexd'),
    join(folder, 'xdg/rexd'),
    join(folder, 'named.toml'),
  ];
  const from = async (args: string[], XDG_CONFIG_HOME?: string): Promise<unknown> => {
    const checked = await run([process.execPath, bin('rexd'), '--check', '--json', ...args], {
      env: { HOME: folder, XDG_CONFIG_HOME },
    });
    return (JSON.parse(checked.stdout) as { config: unknown }).config;
  };
  for (const place of [home, xdg]) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'config.toml'), '');
  }
  writeFileSync(named, '');
  expect(await from([])).toBe(join(home, 'config.toml'));
  expect(await from([], join(folder, 'xdg'))).toBe(join(xdg, 'config.toml'));
  expect(await from(['--config', named], join(folder, 'xdg'))).toBe(named);
});

test('a configuration that turns stdio off is honoured, unless the command line asks for it', async () => {
  const file = join(folder, 'c.toml');
  writeFileSync(file, '[server]\nstdio = false\n');
  const refused = await rexd(['--config', file], OPEN);
  expect(refused).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('server.stdio is false'),
  });
  expect(await rexd(['--stdio', '--config', file], OPEN)).toMatchObject({ code: 0 });
});

test('one dash before a long flag works too, as clients of other servers write it', async () => {
  const { stdout } = await rexd(['-stdio', '-root', '.'], OPEN);
  expect(JSON.parse(stdout)).toMatchObject({ result: { workspace_roots: [folder] } });
});

test('without any root a session opens but has none, and --check says so', async () => {
  expect(JSON.parse((await rexd(['--stdio'], OPEN)).stdout)).toMatchObject({
    result: { workspace_roots: [] },
  });
  expect((await rexd(['--check'])).stdout).toContain('pass --root DIR');
});

test('signals end the server in good order, with an answer in flight delivered', async () => {
  for (const [signal, code] of [
    ['SIGTERM', 0],
    ['SIGHUP', 0],
    ['SIGINT', 130],
  ] as const) {
    await using program = new Program([process.execPath, bin('rexd'), '--stdio', '--root', folder], {
      env: env(),
    });
    program.write(`${OPEN}\n`);
    expect(await program.line()).toContain('"id":1');
    program.child.kill(signal);
    expect(await program.ended, signal).toEqual({ code, signal: null });
    expect(program.stderr).toBe('');
  }
});

test('a client that goes away in the middle ends the server with one line in the log, not with a crash', async () => {
  await using program = new Program([process.execPath, bin('rexd'), '--stdio', '--root', folder], {
    env: env(),
  });
  program.write(`${OPEN}\n`);
  expect(await program.line()).toContain('"id":1');
  program.child.stdout.destroy();
  program.write(`${OPEN}\n`);
  program.endInput();
  expect(await program.ended).toEqual({ code: 0, signal: null });
  expect(program.stderr.trim().split('\n')).toEqual([expect.stringContaining('connection lost')]);
});

test('the log goes to the file it is told, readable by its owner only, never to stdout', async () => {
  const file = join(folder, 'logs/rexd.log');
  const { stdout } = await rexd(
    ['--stdio', '--log-file', file, '--log-level', 'trace'],
    '{"jsonrpc":"2.0","id":7,"result":1}\n',
  );
  expect(stdout).toBe('');
  expect(readFileSync(file, 'utf8')).toMatch(/"id":7/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('every request is one line of the audit log, the refused ones too, and no secret is in it', async () => {
  const [file, config] = [join(folder, 'audit.log'), join(folder, 'c.toml')];
  writeFileSync(config, `[audit]\nenabled = true\npath = ${JSON.stringify(file)}\n`);
  const requests = [
    '{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"client_name":"auditor"}}',
    '{"jsonrpc":"2.0","id":2,"method":"session.open","params":{"client_name":"auditor","token":"hunter2","workspace_roots":["/etc"]}}',
    '{"jsonrpc":"2.0","id":3,"method":"no.such"}',
    '{"jsonrpc":"2.0","method":"session.info","params":{"session_id":"s_none"}}',
  ];
  await rexd(['--stdio', '--config', config, '--log-level', 'silent'], `${requests.join('\n')}\n`);
  const text = readFileSync(file, 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toEqual([
    expect.objectContaining({
      method: 'session.open',
      client_name: 'auditor',
      session_id: expect.stringMatching(/^s_/),
      timestamp: expect.stringMatching(/Z$/),
    }),
    expect.objectContaining({ method: 'session.open', error: expect.objectContaining({ code: -32002 }) }),
    expect.objectContaining({ method: 'no.such', error: expect.objectContaining({ code: -32601 }) }),
    expect.objectContaining({
      method: 'session.info',
      session_id: 's_none',
      error: expect.objectContaining({ code: -32602 }),
    }),
  ]);
  expect(text).not.toContain('hunter2');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a client that stops reading does not keep the server from ending', async () => {
  for (const end of ['SIGTERM', 'end of input'] as const) {
    await using program = new Program([process.execPath, bin('rexd'), '--stdio', '--root', folder], {
      env: env(),
    });
    program.write(`${OPEN}\n`);
    expect(await program.line()).toContain('"id":1');
    program.child.stdout.pause();
    const before = written(program.child.pid);
    program.write(`{"jsonrpc":"2.0","id":"${'x'.repeat(1024 * 1024)}","method":"session.open"}\n`);
    await until(() => written(program.child.pid) > before, 'the answer to be on its way');
    if (end === 'SIGTERM') program.child.kill('SIGTERM');
    else program.endInput();
    expect(await endedUnread(program), end).toMatchObject({ signal: null });
  }
});

test('an empty or relative XDG_CONFIG_HOME is none: a checkout cannot bring its own configuration', async () => {
  mkdirSync(join(folder, 'rexd'));
  writeFileSync(join(folder, 'rexd/config.toml'), '[[security.allowed_roots]]\npath = "/"\n');
  for (const XDG_CONFIG_HOME of ['', '.']) {
    const command: [string, ...string[]] = [process.execPath, bin('rexd'), '--check', '--json'];
    const { stdout } = await run(command, { env: { XDG_CONFIG_HOME, HOME: '/nonexistent' }, cwd: folder });
    expect(JSON.parse(stdout), XDG_CONFIG_HOME).toMatchObject({ roots: [] });
  }
});

test('what cannot be opened is told at the start, with the reason', async () => {
  symlinkSync('loop', join(folder, 'loop'));
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  const config = (text: string): string => {
    writeFileSync(join(folder, 'c.toml'), text);
    return join(folder, 'c.toml');
  };
  const wrong: [string[], RegExp][] = [
    [['--root', 'missing'], /missing": no such directory/],
    [['--root', 'loop'], /links lead round in a circle/],
    [['--root', '~'], /`~` is not expanded/],
    [['--config', join(folder, 'fifo')], /is not a regular file/],
    [['--log-file', folder], /--log-file: .* cannot be written \(EISDIR\)/],
    [['--log-file', '/proc/nope/x.log'], /--log-file: .* cannot be written/],
    [
      ['--config', config('[audit]\nenabled = true\npath = "rel.log"\n')],
      /audit\.path: must be an absolute path/,
    ],
  ];
  for (const [args, message] of wrong) {
    const { code, stdout, stderr } = await rexd(['--stdio', ...args], OPEN);
    expect({ code, stdout }, args.join(' ')).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  }
  const proc = config('[audit]\nenabled = true\npath = "/proc/nope/audit.log"\n');
  expect(await rexd(['--stdio', '--config', proc], OPEN)).toMatchObject({ code: 2, stdout: '' });
});

test('output that cannot be written is an error, not a crash', async () => {
  for (const flag of ['--help', '--check']) {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [bin('rexd'), flag], {
      env: { ...process.env, ...env() },
      stdio: ['ignore', full, 'pipe'],
    });
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    closeSync(full);
    expect({ code, stderr }, flag).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^rexd: cannot write: [^\n]*\n$/),
    });
  }
});

test('streams at whose other end nobody can be are an error, not a silent end', async () => {
  const inShell = (redirection: string): Promise<RunResult> =>
    run(['/bin/sh', '-c', `exec "$0" "$1" --stdio ${redirection}`, process.execPath, bin('rexd')], {
      env: env(),
    });
  const wrong: [string, RegExp][] = [
    ['<&-', /standard input is closed/],
    ['>&-', /standard output is closed/],
    ['</', /standard input is a directory/],
  ];
  for (const [redirection, message] of wrong)
    expect(await inShell(redirection), redirection).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  expect(await inShell('</dev/null'), 'the end of the input at once').toMatchObject({ code: 0, stderr: '' });
});

/** Bytes the program has written, read or not. */
function written(pid: number | undefined): number {
  return pid === undefined
    ? 0
    : Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);
}

/** `close` waits for the output to be read, and here nobody does. */
async function endedUnread(program: Program): Promise<{ signal: NodeJS.Signals | null }> {
  if (program.child.exitCode === null && program.child.signalCode === null) await once(program.child, 'exit');
  program.child.stdout.resume();
  return { signal: program.child.signalCode };
}
