// rex and targets that are daemons: added with no secret on the command line, used, and tested in plain words.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Certificates, makeCertificates } from '../helpers/certificates.js';
import { DaemonUnderTest, TOKEN } from '../helpers/daemon.js';
import { type RexHome, rexHome } from '../helpers/rex.js';

let daemon: DaemonUnderTest;
let secure: DaemonUnderTest;
let strict: DaemonUnderTest;
let home: RexHome;
let certificates: Certificates;
let tokenFile = '';
const put = (base: string, name: keyof Certificates): void =>
  writeFileSync(join(base, name), certificates[name], { mode: 0o600 });

beforeAll(async () => {
  certificates = makeCertificates();
  const server = ['tls_cert = "{base}/server.crt"', 'tls_key = "{base}/server.key"'];
  const prepare = (base: string): void => {
    for (const name of ['server.crt', 'server.key', 'ca.crt'] as const) put(base, name);
  };
  home = rexHome();
  [daemon, secure, strict] = await Promise.all([
    DaemonUnderTest.start({ args: ['--http', '127.0.0.1:0', '--unix', '{base}/s'] }),
    DaemonUnderTest.start({ server, prepare }),
    DaemonUnderTest.start({
      server: [...server, 'tls_client_ca = "{base}/ca.crt"'],
      prepare,
      env: { REXD_TOKEN: undefined },
    }),
  ]);
  tokenFile = join(home.folder, 'token');
  writeFileSync(tokenFile, `${TOKEN}\n`, { mode: 0o600 });
  for (const name of ['ca.crt', 'client.crt', 'client.key'] as const) put(home.folder, name);
});
afterAll(async () => {
  for (const each of [daemon, secure, strict, home]) await each[Symbol.asyncDispose]();
});

const add = (...args: string[]) => home.rex(['target', 'add', ...args]);
const entry = (name: string): Record<string, unknown> | undefined => {
  const file = readFileSync(join(home.folder, 'config/rexd/targets.json'), 'utf8');
  return (JSON.parse(file) as { targets: Record<string, Record<string, unknown>> }).targets[name];
};
/** The steps of `rex target test`: `name ok`, the last one with its words. */
async function steps(name: string, env: Record<string, string> = {}): Promise<{ way: string; last: string }> {
  const { stdout } = await home.rex(['target', 'test', name, '--json'], { env });
  const { steps: told } = JSON.parse(stdout) as {
    steps: { step: string; ok?: boolean; says: string; advice?: string }[];
  };
  const way = told.map(({ step, ok }) => `${ok === true ? '+' : ok === false ? '-' : '!'}${step}`).join(' ');
  return { way, last: `${told.at(-1)?.says} → ${told.at(-1)?.advice}` };
}

test('a daemon is added by its address, and commands run there; the way is told by the address or named', async () => {
  const { url } = daemon;
  const ways: readonly (readonly [string, ...string[]])[] = [
    ['by-http', url, '--token-file', tokenFile],
    ['by-ws', url.replace('http', 'ws'), '--token-env', 'BOX_TOKEN'],
    ['ws-named', url, '--transport', 'ws', '--token-file', 'token'],
    ['by-unix', `unix:${join(daemon.base, 's')}`],
  ];
  for (const [name, ...args] of ways) {
    expect((await add(name, ...args)).stderr).toContain(`Next: rex target test ${name}\n`);
    const ran = await home.rex(['exec', name, '--', 'pwd'], { env: { BOX_TOKEN: TOKEN } });
    expect([name, ran.stdout, ran.stderr, ran.code]).toEqual([name, `${daemon.root}\n`, '', 0]);
  }
  expect(entry('by-http')).toEqual({ transport: 'http', url, tokenFile, workspaceRoots: [] });
  expect(entry('ws-named')).toMatchObject({ transport: 'ws', tokenFile });
  expect(entry('by-unix')).toMatchObject({ transport: 'unix', socket: join(daemon.base, 's') });
  expect((await steps('by-http')).way).toBe('+credentials +network +access +rexd +roots');
  expect((await steps('by-unix')).way).toBe('+socket +rexd +roots');
  const listed = (await home.rex(['target', 'list'])).stdout;
  for (const word of [url, join(daemon.base, 's')]) expect(listed).toContain(word);
});

test('a target that is changed to another way keeps what is not about the way', async () => {
  await add('moves', 'user@host:22', '--root', '/srv', '--description', 'it moves', '--command', 'rexd');
  await add('moves', 'https://rexd.example.org', '--force', '--token-env', 'A');
  expect(entry('moves')).toEqual({
    transport: 'http',
    url: 'https://rexd.example.org',
    tokenEnv: 'A',
    workspaceRoots: ['/srv'],
    defaultCwd: '/srv',
    description: 'it moves',
  });
  await add('moves', 'wss://rexd.example.org', '--force', '--token-file', '/t');
  expect(entry('moves')).toMatchObject({ transport: 'ws', tokenFile: '/t', workspaceRoots: ['/srv'] });
  expect(entry('moves')).not.toHaveProperty('tokenEnv');
});

test.each([
  [['http://u:secret@127.0.0.1:1'], 'no place for secrets'],
  [['http://127.0.0.1:1/?token=secret'], 'no place for secrets'],
  [['http://rexd.example.org', '--token-env', 'A'], 'in the clear'],
  [['host', '--transport', 'http'], 'write http://HOST:PORT'],
  [['host', '--transport', 'carrier-pigeon'], 'ssh, http, ws, unix'],
  [['host', '--token-file', '/t'], '--token-file is for http and ws'],
  [['http://127.0.0.1:1', '--identity', '/k'], '--identity is for ssh'],
  [['/run/s', '--token-env', 'A'], 'reached by unix'],
  [['http://127.0.0.1:1', '--token-env', 'A', '--token-file', '/t'], 'in one place'],
  [['https://127.0.0.1:1', '--cert', '/c'], 'belong together'],
  [['https://127.0.0.1:1', '--token', 'secret'], '--token'],
])('add %j is refused: %s', async (args, words) => {
  const { code, stderr } = await add('bad', ...args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

test('what is wrong on the way to a daemon is said in plain words, with what to do', async () => {
  const { url } = daemon;
  writeFileSync(join(home.folder, 'wrong'), 'wrong', { mode: 0o600 });
  const cases: readonly (readonly [string, readonly string[], string, RegExp])[] = [
    ['refused', ['http://127.0.0.1:1'], '!credentials -network', /ECONNREFUSED.*rexd --http/],
    ['no-token', [url], '!credentials +network -access', /does not let us in.*--token-file FILE/],
    [
      'wrong',
      [url, '--token-file', 'wrong'],
      '+credentials +network -access',
      /does not let us in.*REXD_TOKEN/,
    ],
    [
      'wrong-ws',
      [url, '--transport', 'ws', '--token-file', 'wrong'],
      '+credentials +network -access',
      /does not let us in/,
    ],
    ['no-file', [url, '--token-file', 'missing'], '-credentials', /missing cannot be read \(ENOENT\)/],
    ['no-variable', [url, '--token-env', 'NOT_SET'], '-credentials', /NOT_SET, which is not set/],
    [
      'no-tls',
      [url.replace('http', 'https'), '--token-file', 'token'],
      '+credentials +network -tls',
      /write http:\/\//,
    ],
    ['unknown-ca', [secure.url, '--token-file', 'token'], '+credentials +network -tls', /--ca FILE/],
    ['plain-to-tls', [secure.url.replace('https', 'http')], '!credentials -network', /write https:\/\//],
    [
      'no-certificate',
      [strict.url, '--ca', 'ca.crt'],
      '!credentials +network -tls',
      /--cert FILE --key FILE/,
    ],
    [
      'elsewhere',
      [`${url}/health`, '--token-file', 'token'],
      '+credentials +network +access -rexd',
      /something else than rexd.*the path/,
    ],
    ['nobody', ['/nowhere/s'], '-socket', /rexd --unix \/nowhere\/s/],
  ];
  for (const [name, args, way, words] of cases) {
    await add(name, ...args);
    const told = await steps(name);
    expect([name, told.way]).toEqual([name, way]);
    expect(told.last, name).toMatch(words);
  }
  await add('good-tls', secure.url, '--ca', 'ca.crt', '--token-file', 'token');
  await add('good-ws', secure.url, '--transport', 'ws', '--ca', 'ca.crt', '--token-file', 'token');
  await add('good-mtls', strict.url, '--ca', 'ca.crt', '--cert', 'client.crt', '--key', 'client.key');
  for (const name of ['good-tls', 'good-ws', 'good-mtls'])
    expect([name, (await steps(name)).way]).toEqual([
      name,
      '+credentials +network +tls +access +rexd +roots',
    ]);
});
