// Who may come in, and where a daemon may listen: parsers and rules by themselves.

import { mkdtempSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  MAX_SESSION_IDLE_MS,
  MIN_SESSION_IDLE_MS,
  readConfigFile,
} from '../../../../src/rexd/config-file.js';
import { Access, SHORT_TOKEN_CHARS } from '../../../../src/rexd/daemon/access.js';
import { MAX_PASSED_FDS, passedSockets } from '../../../../src/rexd/daemon/activation.js';
import { isSameToken, isToken, MAX_TOKEN_CHARS, readBearer } from '../../../../src/guard/bearer.js';
import { isLoopbackHost, parseListenAddress } from '../../../../src/guard/listen-address.js';
import { assertMayListen } from '../../../../src/rexd/daemon/remote-consent.js';
import { MAX_SECRET_FILE_BYTES, readSecretFile } from '../../../../src/guard/secret-file.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'hawser-access-'));
afterAll(() => removeFolder(folder));

function put(name: string, content: string | Buffer, mode = 0o600): string {
  const file = join(folder, name);
  writeFileSync(file, content, { mode });
  return file;
}

const token = fc.string({ minLength: 1, maxLength: 60 }).filter((text) => isToken(text));

test('a token that is sent as Bearer is read as it is, however the word is written', () => {
  fc.assert(
    fc.property(
      token,
      fc.constantFrom('Bearer', 'bearer', 'BEARER'),
      fc.integer({ min: 1, max: 3 }),
      (text, word, n) => {
        expect(readBearer(`${word}${' '.repeat(n)}${text}`)).toBe(text);
      },
    ),
  );
});

test('any other header gives no token, and nothing throws', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (header) => {
      const read = readBearer(header);
      expect(read === undefined || header.toLowerCase().startsWith('bearer ')).toBe(true);
    }),
  );
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', 'Bearer a\nb'])
    expect(readBearer(header)).toBeUndefined();
  expect(readBearer(`Bearer ${'x'.repeat(MAX_TOKEN_CHARS)}`)).toHaveLength(MAX_TOKEN_CHARS);
  expect(readBearer(`Bearer ${'x'.repeat(MAX_TOKEN_CHARS + 100)}`)).toBeUndefined();
  expect(isToken('x'.repeat(MAX_TOKEN_CHARS + 1))).toBe(false);
});

test('tokens are the same when they are, whatever they are', () => {
  fc.assert(
    fc.property(token, token, (one, other) => {
      expect(isSameToken(one, one)).toBe(true);
      expect(isSameToken(one, other)).toBe(one === other);
    }),
  );
});

const ask = (authorization?: string): IncomingMessage =>
  ({
    headers: authorization === undefined ? {} : { authorization },
    socket: {},
  }) as unknown as IncomingMessage;

test('the token is taken out of the environment, then from a file, then from the configuration', () => {
  const env: NodeJS.ProcessEnv = { REXD_TOKEN: 'from-env' };
  const token_file = put('token', 'from-file\n');
  const lets = (access: Access, text: string): boolean => {
    try {
      return access.authorise(ask(`Bearer ${text}`)) === 'token';
    } catch {
      return false;
    }
  };
  const first = new Access({ token: 'from-config', token_file }, env);
  expect([env, lets(first, 'from-env'), lets(first, 'from-file')]).toEqual([{}, true, false]);
  const second = new Access({ token: 'from-config', token_file }, {});
  expect(lets(second, 'from-file')).toBe(true);
  expect(second.isShort).toBe('from-file'.length < SHORT_TOKEN_CHARS);
  writeFileSync(token_file, 'another');
  second.reload();
  expect([lets(second, 'from-file'), lets(second, 'another')]).toEqual([false, true]);
  writeFileSync(token_file, 'two words');
  expect(() => second.reload()).toThrow('one word');
  expect(lets(second, 'another')).toBe(true);
  expect(lets(new Access({ token: 'from-config' }, {}), 'from-config')).toBe(true);
  expect(() => new Access({}, {}).assertGuarded()).toThrow('REXD_TOKEN');
  const passed = put('passed', 'from-passed-file');
  expect(lets(new Access({ token_file }, { REXD_TOKEN_FILE: passed }), 'from-passed-file')).toBe(true);
  expect(() => first.authorise(ask())).toThrow('Authorization');
});

test('an empty file that the environment names is no token, and one that the configuration names is a mistake', () => {
  const file = put('none', '\n');
  expect(() => new Access({}, { REXD_TOKEN_FILE: file }).assertGuarded()).toThrow('without authentication');
  expect(() => new Access({ token_file: file }, {})).toThrow('one word');
});

test('a file with a secret that others can read, or that is none, is not used', () => {
  const read = (file: string): string =>
    readSecretFile('server.token_file', file, { secret: true }).toString();
  expect(read(put('a', 'secret'))).toBe('secret');
  expect(read(put('group', 'shared', 0o640))).toBe('shared');
  expect(() => read(put('open', 'secret', 0o644))).toThrow('chmod 600');
  expect(() => read(put('large', Buffer.alloc(MAX_SECRET_FILE_BYTES + 1)))).toThrow('larger than');
  expect(() => read(folder)).toThrow('regular file');
  expect(() => read(join(folder, 'absent'))).toThrow('ENOENT');
  const tls = { tls_cert: put('crt', 'no certificate'), tls_key: put('key', 'no key') };
  expect(() => new Access(tls, {})).toThrow('cannot be used');
  expect(() => new Access({ tls_cert: tls.tls_cert }, {})).toThrow('both');
});

/** Whether it is read, or refused in our own words. */
function outcomeOf(text: string): boolean {
  try {
    return parseListenAddress(text).port <= 65_535;
  } catch (thrown) {
    return (thrown as Error).message.includes('HOST:PORT');
  }
}

test('addresses are read as people write them; without a host it is this machine alone', () => {
  const read = (text: string): [string, number] => {
    const { host, port } = parseListenAddress(text);
    return [host, port];
  };
  expect(read('8040')).toEqual(['127.0.0.1', 8040]);
  expect(read(':0')).toEqual(['127.0.0.1', 0]);
  expect(read('localhost:1')).toEqual(['localhost', 1]);
  expect(read('[::1]:65535')).toEqual(['::1', 65_535]);
  for (const bad of [
    '',
    'localhost',
    '1.2.3.4',
    '127.0.0.1:65536',
    '::1:80',
    '[x]:1',
    'a b:1',
    '127.0.0.1:',
    '-1',
  ])
    expect(() => parseListenAddress(bad), bad).toThrow('HOST:PORT');
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => {
      expect(outcomeOf(text)).toBe(true);
    }),
  );
});

test('where other machines can come needs consent, and TLS or a proxy', () => {
  const no = { allow_remote: false, behind_proxy: false, hasTls: false };
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) {
    expect(isLoopbackHost(host)).toBe(true);
    assertMayListen(host, no);
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.org', '127.0.0.1.nip.io']) {
    expect(() => assertMayListen(host, { ...no, hasTls: true }), host).toThrow('--allow-remote');
    expect(() => assertMayListen(host, { ...no, allow_remote: true }), host).toThrow('in the clear');
    assertMayListen(host, { ...no, allow_remote: true, hasTls: true });
    assertMayListen(host, { ...no, allow_remote: true, behind_proxy: true });
  }
});

test('sockets that were passed are for the process they were passed to, and not too many', () => {
  const pid = String(process.pid);
  expect(passedSockets({})).toEqual({ unix: [], tcp: [] });
  expect(passedSockets({ LISTEN_FDS: '1', LISTEN_PID: '1' })).toEqual({ unix: [], tcp: [] });
  const many = { LISTEN_FDS: String(MAX_PASSED_FDS + 1), LISTEN_PID: pid };
  expect(() => passedSockets(many)).toThrow(String(MAX_PASSED_FDS));
  expect(() => passedSockets({ LISTEN_FDS: '1.5', LISTEN_PID: pid })).toThrow('LISTEN_FDS');
});

test('the keys of a daemon are checked', async () => {
  const refused = async (line: string): Promise<string> =>
    await readConfigFile(put('config.toml', `[server]\n${line}\n`)).then(
      () => 'read',
      (thrown: unknown) => (thrown as Error).message,
    );
  expect(await refused(`session_idle_ms = ${MIN_SESSION_IDLE_MS - 1}`)).toContain('session_idle_ms');
  expect(await refused(`session_idle_ms = ${MAX_SESSION_IDLE_MS + 1}`)).toContain('session_idle_ms');
  expect(await refused('http_path = "rpc"')).toContain('/rpc');
  expect(await refused('allowed_hosts = ["https://x"]')).toContain('allowed_hosts');
  expect(await refused('http_listn = "x"')).toContain('http_listen');
  expect(await refused(`session_idle_ms = ${MIN_SESSION_IDLE_MS}`)).toBe('read');
});
