// What a configuration says of commands, met through the executable: rules, classes, sudo, variables.

import { copyFileSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bin, Program, run, type RunResult } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';

type Message = Record<string, unknown> & {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data: Record<string, unknown> };
};

let folder: string;
let config: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-policy-')));
  config = join(folder, 'c.toml');
});
afterEach(() => removeFolder(folder));

/** No configuration but the test's own, and a few variables to be passed on or not. */
const env = (): Record<string, string> => ({
  XDG_CONFIG_HOME: folder,
  HOME: folder,
  PASSED_ON: 'passed',
  KEPT_BACK: 'secret',
});
const writeConfig = (security: string): void =>
  writeFileSync(
    config,
    `[security]\n${security}\n[[security.allowed_roots]]\npath = ${JSON.stringify(folder)}\n`,
  );
const rexd = (...args: string[]): Promise<RunResult> =>
  run([process.execPath, bin('rexd'), '--config', config, ...args], { env: env(), cwd: folder });

/** A client of a server with this `[security]`. */
class Client implements AsyncDisposable {
  readonly #program: Program;
  readonly events: Message[] = [];
  #lastId = 0;
  #session: string | undefined;

  constructor(server: string, security: string) {
    writeConfig(security);
    this.#program = new Program([process.execPath, server, '--stdio', '--config', config], { env: env() });
  }

  async call(method: string, params: Record<string, unknown>): Promise<Message> {
    this.#session ??= await this.#open();
    return await this.#exchange(method, { session_id: this.#session, ...params });
  }

  /** What a command prints. */
  async print(params: Record<string, unknown>): Promise<string> {
    const started = await this.call('exec.start', { stdin: '', ...params });
    expect(started.error).toBeUndefined();
    while (!this.events.some(({ method }) => method === 'exec.exit')) await this.#next();
    const events = this.events.splice(0);
    return events.map(({ params: { data = '' } = {} }) => String(data)).join('');
  }

  async capabilities(): Promise<unknown> {
    return (await this.#exchange('session.open', { client_name: 't' })).result?.['capabilities'];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.endInput();
    await this.#program.ended;
    await this.#program[Symbol.asyncDispose]();
  }

  async #open(): Promise<string> {
    return String((await this.#exchange('session.open', { client_name: 't' })).result?.['session_id']);
  }

  async #exchange(method: string, params: Record<string, unknown>): Promise<Message> {
    const id = ++this.#lastId;
    this.#program.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const message = await this.#next();
      if (message.id === id) return message;
    }
  }

  async #next(): Promise<Message> {
    const message = JSON.parse((await this.#program.line()) ?? 'null') as Message;
    if (message.method !== undefined) this.events.push(message);
    return message;
  }
}

const serve = (security: string): Client => new Client(bin('rexd'), security);

test('only what is on the list of allowed commands runs, with a terminal or without', async () => {
  await using client = serve('allow_commands = ["echo", "git status"]');
  expect(await client.print({ argv: ['echo', 'hi'] })).toBe('hi\n');
  expect(await client.print({ shell: true, command: "echo 'a b' | echo hi" })).toBe('hi\n');
  for (const method of ['exec.start', 'pty.open'])
    for (const command of [
      { argv: ['ls'] },
      { argv: ['git', 'push'] },
      { argv: ['env', 'ls'] },
      { shell: true, command: 'echo hi && ls' },
      { shell: true, command: 'echo $(ls)' },
    ])
      expect((await client.call(method, command)).error, JSON.stringify(command)).toMatchObject({
        code: -32001,
        data: {
          rule: 'allow',
          reason: expect.stringContaining('not on the list'),
          class: expect.any(String),
        },
      });
});

test('what is denied does not run, however it is wrapped, and the answer names the rule', async () => {
  await using client = serve('deny_commands = ["rm -rf **", "curl"]');
  expect(await client.print({ argv: ['echo', 'rm'] })).toBe('rm\n');
  for (const command of [
    { argv: ['rm', '-rf', 'x'] },
    { argv: ['env', 'A=1', '/bin/rm', '-rf', 'x'] },
    { shell: true, command: 'cd . && rm -rf x' },
  ])
    for (const method of ['exec.start', 'pty.open'])
      expect((await client.call(method, command)).error, JSON.stringify(command)).toMatchObject({
        code: -32001,
        data: {
          rule: 'deny "rm -rf **"',
          reason: 'rm is denied',
          class: expect.stringMatching(/write|shell/),
        },
      });
});

test('classes and sudo restrict what may run', async () => {
  await using client = serve('classes = ["read-only", "privileged"]\nsudo = ["id"]');
  expect(await client.print({ argv: ['echo', 'hi'] })).toBe('hi\n');
  expect((await client.call('exec.start', { argv: ['touch', 'x'] })).error).toMatchObject({
    code: -32001,
    data: { rule: 'classes', class: 'write' },
  });
  expect((await client.call('exec.start', { argv: ['sudo', 'reboot'] })).error).toMatchObject({
    code: -32001,
    data: { rule: 'sudo', class: 'privileged', reason: 'sudo may not run reboot' },
  });
});

test('without a shell, neither shell: true nor a shell in argv runs', async () => {
  await using client = serve('allow_shell = false');
  const data = { rule: 'allow_shell', class: 'shell' };
  expect((await client.call('pty.open', { shell: true, command: 'ls' })).error).toMatchObject({
    code: -32007,
    data: { capability: 'shell', ...data },
  });
  expect((await client.call('pty.open', { argv: ['sh', '-c', 'ls'] })).error).toMatchObject({
    code: -32001,
    data,
  });
});

test('of the environment of the server a command is given what it needs and what pass_env names', async () => {
  await using client = serve('pass_env = ["PASSED_ON"]');
  const text = await client.print({ argv: ['env'], env: { ASKED: 'for' } });
  expect(text).toMatch(/^PASSED_ON=passed$/m);
  expect(text).toMatch(/^ASKED=for$/m);
  expect(text).toMatch(/^PATH=./m);
  expect(text).not.toContain('KEPT_BACK');
});

test('a rule that cannot be used exits 2 and names the file, the key and the rule', async () => {
  const wrong: [string, RegExp][] = [
    [
      'allow_commands = ["ls", "bin/ls"]',
      /c\.toml: line 2: security\.allow_commands\[1\] "bin\/ls": expected a bare name or/,
    ],
    ['deny_commands = ["** x"]', /security\.deny_commands\[0\] "\*\* x": begins with \*\*/],
    ['sudo = ["id \\\\"]', /security\.sudo\[0\] .*ends in a backslash/],
    ['deny_commands = [""]', /security\.deny_commands\[0\]: must not be empty/],
    ['deny_commands = "rm"', /security\.deny_commands: expected array, got string/],
    ['deny_commands = [5]', /security\.deny_commands\[0\]: expected string, got number/],
    ['classes = ["readonly"]', /security\.classes\[0\]: expected "read-only" or .*got "readonly"/],
    ['pass_env = ["AWS_*"]', /security\.pass_env\[0\]: expected the name of a variable/],
    ['deny_command = ["rm"]', /security\.deny_command: unknown key; did you mean "deny_commands"\?/],
    ['passenv = []', /security\.passenv: unknown key; did you mean "pass_env"\?/],
  ];
  for (const [security, message] of wrong) {
    writeConfig(security);
    const { code, stdout, stderr } = await rexd('--check');
    expect({ code, stdout }, security).toEqual({ code: 2, stdout: '' });
    expect(stderr, security).toMatch(message);
  }
});

test('--check says which rules there are', async () => {
  writeConfig('allow_commands = ["ls", "git log"]\nsudo = []\npass_env = ["PASSED_ON"]');
  expect((await rexd('--check')).stdout).toMatch(
    /^allow: {2}ls, git log\nsudo: {3}nothing\nenv: {4}PASSED_ON$/m,
  );
  expect(JSON.parse((await rexd('--check', '--json')).stdout)).toMatchObject({
    allow_shell: true,
    allow_commands: ['ls', 'git log'],
    deny_commands: [],
    sudo: [],
    classes: null,
    pass_env: ['PASSED_ON'],
  });
});

test('where the add-on for terminals is missing the server says so, and all else works', async () => {
  const alone = join(folder, 'rexd.js'); // with its parts, and no node_modules around it
  for (const suffix of ['', '.parts']) copyFileSync(`${bin('rexd')}${suffix}`, `${alone}${suffix}`);
  await using client = new Client(alone, '');
  expect(await client.capabilities()).toEqual(['exec', 'fs', 'events', 'resume']);
  expect((await client.call('pty.open', { argv: ['true'] })).error).toMatchObject({
    code: -32007,
    data: { capability: 'pty' },
  });
  expect(await client.print({ argv: ['echo', 'hi'] })).toBe('hi\n');
});
