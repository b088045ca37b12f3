import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactArgv, redactText } from '../../../src/guard/redact-text.js';
import { MAX_SHELLS_WITHIN } from '../../../src/guard/redact-shell-text.js';
import { runs } from '../../helpers/runs.js';
import { growthOf, isInStep } from './cost-growth.js';

const HIDDEN = '[redacted]';
const MAX = 4096;
const text = (given: string): string => redactText(given, MAX);
const argv = (line: string): string => redactArgv(line.split(' '), MAX).join(' ');

// Put together here, so that no scanner takes this file for a leak.
const join = (...parts: string[]): string => parts.join('');
const JWT = join('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0In0.', 'dozjgNryP4J3jVmNHl0w');

describe('a secret is told by its shape', () => {
  test.each([
    join('AKIA', 'IOSFODNN7EXAMPLE'),
    `ghp_${'x'.repeat(36)}`,
    `github_pat_${'A1b2'.repeat(8)}`,
    join('glpat-', 'abcdefghij1234567890'),
    join('sk-', 'proj-abcDEF1234567890xyz'),
    join('sk-ant-', 'api03-abcDEF1234567890'),
    join('sk_live_', '4eC39HqLyjWDarjtT1zdp7dc'),
    join('xoxb-', '1234567890-abcdefghij'),
    join('AIza', 'SyA-1234567890abcdefghijklmnopqrstu'),
    `npm_${'a'.repeat(36)}`,
    `hf_${'a'.repeat(34)}`,
    JWT,
  ])('%s', (secret) => {
    for (const around of [
      secret,
      `see ${secret}.`,
      `a=${secret}&b=1`,
      `"${secret}"`,
      `(${secret})`,
      `x\n${secret}\ny`,
    ]) {
      expect(text(around)).not.toContain(secret.slice(0, -4));
    }
    expect(text(`before ${secret} after`)).toBe(`before ${HIDDEN} after`);
  });

  test('a private key, also one that is cut off', () => {
    const key = `-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n`;
    expect(text(`x ${key}-----END OPENSSH PRIVATE KEY----- y`)).toBe(`x ${HIDDEN} y`);
    expect(text(`x ${key}`)).toBe(`x ${HIDDEN}`);
  });
});

describe('a secret is told by its place in a text', () => {
  test.each([
    ['https://user:pass@host/x', `https://${HIDDEN}@host/x`],
    ['git clone https://TOKEN@github.com/a/b', `git clone https://${HIDDEN}@github.com/a/b`],
    ['postgres://u:p%40w@db:5432/x?sslmode=1', `postgres://${HIDDEN}@db:5432/x?sslmode=1`],
    ['https://u:p@ss@host/', `https://${HIDDEN}@host/`],
    ['https://host/a@b', 'https://host/a@b'],
    ['psql postgresql://u:pa/ss@h/db', `psql postgresql://${HIDDEN}@h/db`],
    ['redis://:hun/ter2@h', `redis://${HIDDEN}@h`],
    ['psql "postgres://u:p#a?b/x@h/db" -c x', `psql "postgres://${HIDDEN}@h/db" -c x`],
    ['see http://a/b then ftp://u:p@h', `see http://a/b then ftp://${HIDDEN}@h`],
    ['curl https://h/?token=abc', `curl https://h/?token=${HIDDEN}`],
    ['docker run --env=DB_PASSWORD=hunter2 x', `docker run --env=DB_PASSWORD=${HIDDEN} x`],
    ['note: password=hunter2', `note: password=${HIDDEN}`],
    ['{"a":"password=hunter2"}', `{"a":"password=${HIDDEN}"}`],
    ['a="b=c" token=d', `a="b=c" token=${HIDDEN}`],
    ['redis-cli -a hunter2 ping', `redis-cli -a ${HIDDEN} ping`],
    ['cd x && zip -P "two words" a', `cd x && zip -P "${HIDDEN}" a`],
    ["sudo openssl enc -k 'a b' -in x", `sudo openssl enc -k '${HIDDEN}' -in x`],
    ['echo $(7z a -phunter2 x)', `echo $(7z a -p${HIDDEN} x)`],
    ['docker login -u me -p hunter2 reg; ls -p x', `docker login -u me -p ${HIDDEN} reg; ls -p x`],
    ['sh <<E\nredis-cli -a hunter2\nE\nls', `sh <<E\nredis-cli -a ${HIDDEN}\nE\nls`],
    [`eval "redis-cli -a" 'hunter2'`, `eval "${HIDDEN}"`],
    [`ssh h 'redis-cli -a "hunter2" ping'`, `ssh h 'redis-cli -a "${HIDDEN}" ping'`],
    ['redis-cli -a "$(zip -P hunter2)"', `redis-cli -a "${HIDDEN}"`],
    ['GET /x?token=abc&b=1#f', `GET /x?token=${HIDDEN}&b=1#f`],
    ['/x?b=1&api_key=abc', `/x?b=1&api_key=${HIDDEN}`],
    ['Authorization: Bearer abc def', `Authorization: ${HIDDEN}`],
    ['Authorization: Basic dTpw\nHost: x', `Authorization: ${HIDDEN}\nHost: x`],
    [`curl -H 'Authorization: Digest a="b", c' https://h`, `curl -H 'Authorization: ${HIDDEN}' https://h`],
    ['curl -H "X-Api-Key: abc def" https://h', `curl -H "X-Api-Key: ${HIDDEN}" https://h`],
    ['{"Authorization":"Bearer abc def","a":1}', `{"Authorization":${HIDDEN},"a":1}`],
    ['Cookie: a="b c"; d=e', `Cookie: ${HIDDEN}`],
    ['sent Bearer abcdef123', `sent Bearer ${HIDDEN}`],
    ['bearer of bad news', 'bearer of bad news'],
    ['basic configuration', 'basic configuration'],
    ['sent basic dXNlcjpwYXNz==', `sent basic ${HIDDEN}`],
    ['password=hunter2', `password=${HIDDEN}`],
    ['password: hunter2 and more', `password: ${HIDDEN} and more`],
    ['DB_PASSWORD="two words" x', `DB_PASSWORD=${HIDDEN} x`],
    ["export TOKEN='a b' && run", `export TOKEN=${HIDDEN} && run`],
    ['{"password": "a\\"b", "user": "me"}', `{"password": ${HIDDEN}, "user": "me"}`],
    ['curl -d "{\\"password\\":\\"hunter2\\"}"', `curl -d "{\\"password\\":${HIDDEN}}"`],
    ['password="never closed', `password=${HIDDEN}`],
    ['run --password hunter2 x', `run --password ${HIDDEN} x`],
    ["run --db-password 'a b' x", `run --db-password ${HIDDEN} x`],
    ['run --password=hunter2 x', `run --password=${HIDDEN} x`],
    ['run -token abc', `run -token ${HIDDEN}`],
    ['run --password-file /run/x --no-password y', 'run --password-file /run/x --no-password y'],
    ['docker login --password-stdin host', 'docker login --password-stdin host'],
    ['curl -u me:hunter2 https://h', `curl -u me:${HIDDEN} https://h`],
    ['curl --user=me:hunter2 https://h', `curl --user=me:${HIDDEN} https://h`],
    ['docker run -u 1000:1000 x', 'docker run -u 1000:1000 x'],
    ['mysql -u root -phunter2 db', `mysql -u root -p${HIDDEN} db`],
    ['sshpass -p hunter2 ssh h', `sshpass -p ${HIDDEN} ssh h`],
    ['mkdir -p /srv/x', 'mkdir -p /srv/x'],
    ['ls -la /srv/app && git status', 'ls -la /srv/app && git status'],
  ])('%j', (given, expected) => {
    expect(text(given)).toBe(expected);
  });

  test('with a name of any length before it', () => {
    expect(text(`${'a'.repeat(300)}_password=hunter2`)).not.toContain('hunter2');
  });
});

describe('a secret is told by its place in an argv', () => {
  test.each([
    ['tool --password=hunter2 x', `tool --password=${HIDDEN} x`],
    ['tool --password=a,b&c;d"e x', `tool --password=${HIDDEN} x`],
    ['tool --token -starts-with-dash x', `tool --token ${HIDDEN} x`],
    ['tool -password x y', `tool -password ${HIDDEN} y`],
    ['tool --password-file x', 'tool --password-file x'],
    ['tool --ask-pass x', 'tool --ask-pass x'],
    ['env PGPASSWORD=a,b psql', `env PGPASSWORD=${HIDDEN} psql`],
    ['tool -e API_TOKEN=x;y', `tool -e API_TOKEN=${HIDDEN}`],
    ['mysql -uroot -phunter2', `mysql -uroot -p${HIDDEN}`],
    ['sudo /usr/bin/mysqldump -phunter2 db', `sudo /usr/bin/mysqldump -p${HIDDEN} db`],
    ['mysql -p db', 'mysql -p db'],
    ['mkdir -p x', 'mkdir -p x'],
    ['ssh -p 22 host', 'ssh -p 22 host'],
    ['sshpass -p hunter2 ssh -p 22 host', `sshpass -p ${HIDDEN} ssh -p ${HIDDEN} host`],
    ['sshpass -phunter2 ssh host', `sshpass -p${HIDDEN} ssh host`],
    ['curl -u me:hunter2 h', `curl -u me:${HIDDEN} h`],
    ['curl -ume:hunter2 h', `curl -ume:${HIDDEN} h`],
    ['curl --user me:hunter2 h', `curl --user me:${HIDDEN} h`],
    ['curl -b session=abc h', `curl -b ${HIDDEN} h`],
    ['redis-cli -a hunter2 ping', `redis-cli -a ${HIDDEN} ping`],
    ['docker login -u me -p hunter2 reg', `docker login -u me -p ${HIDDEN} reg`],
    ['docker run -p 80:80 x', 'docker run -p 80:80 x'],
    ['ldapsearch -w hunter2 -x', `ldapsearch -w ${HIDDEN} -x`],
    ['zip -P hunter2 a.zip b', `zip -P ${HIDDEN} a.zip b`],
    ['7z a -phunter2 x.7z', `7z a -p${HIDDEN} x.7z`],
    ['htpasswd -b file me hunter2', `htpasswd -b file me ${HIDDEN}`],
    ['openssl rsa -passin pass:hunter2', `openssl rsa -passin ${HIDDEN}`],
    ['aws configure set aws_secret_access_key abc', `aws configure set aws_secret_access_key ${HIDDEN}`],
    ['git checkout fix-token-bug file', 'git checkout fix-token-bug file'],
    ['kubectl create --from-literal=password=hunter2', `kubectl create --from-literal=password=${HIDDEN}`],
    ['helm --set=auth.password=hunter2', `helm --set=auth.password=${HIDDEN}`],
    ['unzip -Phunter2 x', `unzip -P${HIDDEN} x`],
    ['smbclient -U me%hunter2 //h/x', `smbclient -U me%${HIDDEN} //h/x`],
  ])('%s', (given, expected) => {
    expect(argv(given)).toBe(expected);
  });

  test('also in a word that is a text for a shell', () => {
    expect(redactArgv(['sh', '-c', 'mysql -phunter2 && curl --token x'], MAX)).toEqual([
      'sh',
      '-c',
      `mysql -p${HIDDEN} && curl --token ${HIDDEN}`,
    ]);
  });

  test('words stay as many as they were, odd ones too', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
        expect(redactArgv(words, MAX).length).toBe(words.length);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('whatever a secret is made of', () => {
  const secret = fc.stringMatching(/^[A-Za-z][A-Za-z0-9/@:=#?%+.~-]{14,30}[A-Za-z0-9]$/);
  const places: ((secret: string) => string)[] = [
    (s) => `psql postgresql://u:${s}@h/db`,
    (s) => `git clone https://bob:${s}@h/x`,
    (s) => `kubectl create secret generic x --from-literal=password=${s}`,
    (s) => `docker run --env=DB_PASSWORD=${s} x`,
    (s) => `helm install --set=auth.password=${s} x`,
    (s) => `curl https://h/?token=${s}`,
    (s) => `run note: password=${s}`,
    (s) => `ansible -e {"a":"password=${s}"}`,
    (s) => `redis-cli -a ${s}`,
    (s) => `zip -P ${s} x`,
    (s) => `openssl enc -k ${s}`,
    (s) => `7z a -p${s} x`,
    (s) => `docker login -u x -p ${s}`,
    (s) => `mysql -uroot -p${s} db`,
    (s) => `A=B=password=${s}`,
  ];

  test.each([
    ['as words', (line: string) => redactArgv(line.split(' '), MAX).join(' ')],
    ['as a text', text],
    ['in a text for a shell', (line: string) => redactArgv(['sh', '-c', line], MAX).join(' ')],
    [
      'in a text in such a text',
      (line: string) => redactArgv(['sh', '-c', `cd x; bash -c '${line}'`], MAX).join(' '),
    ],
  ])('it is not shown %s', (_, show) => {
    fc.assert(
      fc.property(fc.constantFrom(...places), secret, (place, hidden) => {
        // Nor any half of it, should a character in it have led a pattern to stop.
        expect(show(place(hidden))).not.toContain(hidden.slice(0, 8));
        expect(show(place(hidden))).not.toContain(hidden.slice(-8));
      }),
      { numRuns: runs(2000) },
    );
  });
});

test('texts for a shell within each other are read so deep, and what is deeper is hidden', () => {
  let line = 'redis-cli -a hunter2';
  for (let depth = 0; depth < MAX_SHELLS_WITHIN; depth++) line = `sh -c ${JSON.stringify(line)}`;
  expect(text(line)).not.toContain('hunter2');
  expect(text(line)).toContain('redis-cli');
  line = `sh -c ${JSON.stringify(line)}`;
  expect(text(line)).not.toContain('redis-cli');
});

test('a text without secrets comes back as it is', () => {
  const word = fc.constantFrom(
    'ls',
    '-la',
    '/srv/app',
    'git',
    'status',
    '--short',
    'grüße',
    '2>&1',
    '|',
    'wc',
    '-l',
    'a=1',
    'x:',
    '"quoted words"',
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      expect(text(words.join(' '))).toBe(words.join(' '));
    }),
  );
});

test('redacting twice changes nothing more', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'password=',
      '--token ',
      'Authorization: ',
      '"',
      "'",
      '\n',
      'https://',
      '@',
      ':',
      ' ',
      'Bearer ',
      'x',
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const once = text(pieces.join(''));
      expect(text(text(once))).toBe(text(once));
    }),
    { numRuns: runs(2000) },
  );
});

test.each([
  'a',
  'a=',
  '"',
  '\\"',
  'a:"',
  'x-key',
  'x-',
  'mysql ',
  'redis-cli -a ',
  'sh -c "redis-cli ',
  'zip $(',
  'zip \\',
  'a="b',
  'a://b:',
  'http://',
  '://',
  'a@',
  '-----BEGIN ',
  '--a ',
  'eyJ',
  'eyJaaaaaaaa.',
  'Bearer ',
  'password:"\\',
  'cookie:',
  ' ',
  '\n',
  '-p',
  'sk-',
])('a text of nothing but %j costs in step with its length', (unit) => {
  const growth = growthOf((times) => redactText(`${unit.repeat(times)}password=`, 1_000_000), MAX / 2);
  expect(growth).toSatisfy(isInStep);
});
