// Actions, tools and packages by the built daemon.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { shareStringd } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

const shared = shareStringd();

interface Answer {
  readonly ok: boolean;
  readonly code: string | null;
  readonly text: string;
}

/** The body, without the lines that repeat the command. */
async function run(cmd: string, topic: string): Promise<Answer> {
  const { events } = await shared().exec(topic, cmd);
  const [head, content] = events.map(({ data }) => data) as [{ ok: boolean; code: string | null }, string];
  return { ok: head.ok, code: head.code, text: content.replace(/^re: [^\n]*\n/u, '') };
}

function put(name: string, text: string): string {
  const path = join(shared().home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const fence = (id: string, ...lines: string[]): string => ['```act.' + id, ...lines, '```', ''].join('\n');

async function open(topic: string, text: string): Promise<void> {
  put(`${topic}/page.md`, text);
  expect(await run(`/open ~/${topic}/page.md`, topic)).toMatchObject({ ok: true });
}

interface Server extends AsyncDisposable {
  readonly url: string;
  readonly seen: { path: string; authorization: string | undefined; body: string }[];
}

async function serve(
  answer: (path: string) => { status?: number; body: string; type?: string },
): Promise<Server> {
  const seen: Server['seen'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      seen.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
      const { status = 200, body: text, type = 'application/json' } = answer(request.url ?? '');
      response.writeHead(status, { 'content-type': type }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

verifies('string/act/list', async () => {
  await open(
    'list',
    fence(
      'search',
      'GET http://x/{query}',
      '  query, -q: string (required) "Search text"',
      '  limit: number (optional)',
    ) + fence('now', 'CLI date'),
  );
  const flags = '   -q, --query <string> (required) — Search text\n   --limit <number> (optional)';
  expect((await run('/act', 'list')).text).toBe(
    `Actions\n---\n/act.search\n${flags}\n/act.now\n   (no flags)`,
  );
  expect((await run('/act.search --help', 'list')).text).toBe(`Action: search\n---\n${flags}`);
  expect((await run('/act.search', 'list')).text).toBe(`Action: search\n---\n${flags}`);
  expect((await run('/act.nope', 'list')).text).toBe(
    'ERROR(NOT_FOUND): Action not found: "nope"\nAvailable: search, now',
  );
  expect((await run('/act.x', 'nothing')).text).toBe(
    'ERROR(INVALID_TARGET): No document open. Use /open <uri> first.',
  );
  await open('plain', '# Nothing');
  expect((await run('/act', 'plain')).text).toBe('No actions defined on this page.');
});

verifies('string/act/fields', async () => {
  await open(
    'fields',
    fence(
      'two',
      `CLI printf '[%s]' {a} {b}`,
      '  a, -a: string (required)',
      '  b: string (optional) = "dflt"',
      '  n: number (optional)',
    ),
  );
  const cases: readonly (readonly [string, string])[] = [
    ['/act.two x', '[x][dflt]'],
    ['/act.two x y', '[x][y]'],
    ['/act two --b=y -a x', '[x][y]'],
    ['/two x', '[x][dflt]'],
    ['/act.two "x\ny"', '[x\ny][dflt]'],
    ['/act.two -5', '[-5][dflt]'],
    [
      '/act.two --b y',
      'ERROR(INVALID_PAYLOAD): Missing required flags: a\nUsage:\n   -a, --a <string> (required)\n   --b <string> (optional)\n   --n <number> (optional)',
    ],
    ['/act.two --a', 'ERROR(INVALID_PAYLOAD): Flag --a requires a value (declared type: string).'],
  ];
  for (const [cmd, text] of cases) expect((await run(cmd, 'fields')).text, cmd).toBe(text);
  for (const cmd of ['/act.two a b 1 2', '/act.two a --n x', '/act.two $HOME', '/act.two "x'])
    expect(await run(cmd, 'fields'), cmd).toMatchObject({ ok: false, code: 'INVALID_PAYLOAD' });
  expect(await run('/act.two @nobody', 'fields')).toMatchObject({ code: 'NOT_FOUND' });
  put('fields/value.txt', 'as {it} $IS\n');
  expect((await run('/act.two --a-file value.txt', 'fields')).text).toBe('[as {it} $IS\n][dflt]');
  expect((await run('/act.two --a x --a-file value.txt', 'fields')).text).toBe(
    'ERROR(INVALID_PAYLOAD): pass either --a or --a-file',
  );
  await run('/set {who} = "me"', 'fields');
  expect((await run('/act.two "{who} {nobody}"', 'fields')).text).toBe('[me {nobody}][dflt]');
});

verifies('string/act/quoting', async () => {
  const forms = ['{x}', '"{x}"', `'{x}'`, 'a{x}b', '"$(printf %s {x})"'];
  await open(
    'quoting',
    forms.map((form, n) => fence(`f${n}`, `CLI printf '[%s]' ${form}`, '  x: string (required)')).join('') +
      fence('args', `CLI printf '[%s]' $ARGS`),
  );
  const values = ['$(touch pwned)', '`touch pwned`', '" ; touch pwned ; "', 'a\nb', 'x'.repeat(64 * 1024)];
  for (const value of values) {
    const word = `'${value}'`;
    for (const n of forms.keys())
      expect((await run(`/act.f${n} ${word}`, 'quoting')).text, `${n} ${value}`).toBe(
        n === 3 ? `[a${value}b]` : `[${value}]`,
      );
    expect((await run(`/act.args ${word} end`, 'quoting')).text).toBe(`[${value}][end]`);
  }
  expect((await run(`/act.f1 "it's"`, 'quoting')).text).toBe("[it's]");
  expect(await run(`/act.f1 'a\0b'`, 'quoting')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  expect(existsSync(join(shared().home, 'quoting/pwned'))).toBe(false);
});

verifies('string/act/response', async () => {
  await open(
    'response',
    fence('rows', `CLI echo '{"n":2,"groups":[{"g":"x","rows":[{"id":1}]},{"g":"y","rows":[{"id":2}]}]}'`) +
      fence(
        'rows.response',
        '{count} = {Response.body.n}',
        '{text} = "literal"',
        'for: g in Response.body.groups',
        '# {g.g}',
        'for: r in g.rows',
        '{@row} = ({r.id}, {g.g})',
        '- {@row}',
        'end:',
        'end:',
        '{count} {text}',
        '',
      ) +
      fence('show', 'CLI echo {r[0]}/{r[1]}/{r[2]}', '  r: string') +
      fence('bad', 'CLI echo out; exit 7') +
      fence('bad.response', 'Exit {Response.exit_code}'),
  );
  expect((await run('/act.rows', 'response')).text).toBe('# x\n- @row-1\n# y\n- @row-2\n2 literal');
  expect((await run('/act.show @row-2', 'response')).text).toBe('2/y/');
  expect((await run('/info @row-1', 'response')).text).toBe('@row-1 → (1, x)');
  expect(await run('/act.bad', 'response')).toMatchObject({
    ok: false,
    code: 'EXIT_7',
    text: 'ERROR(EXIT_7): Exit 7',
  });
});

verifies(['string/act/http', 'string/act/secrets'], async () => {
  await using server = await serve((path) => {
    const status = Number(/^\/s(\d+)/u.exec(path)?.[1] ?? 200);
    return { status, body: status === 200 ? '{"id":7}' : 'x'.repeat(900) };
  });
  put(
    'net/string.md',
    `---\nname: net\ntype: app\nrequires: [NET_URL, NET_TOKEN]\n---\n` +
      fence(
        'add',
        `POST $NET_URL/tasks/{list} -H "Authorization: Bearer $NET_TOKEN" -d '{"t":"re: {t}"}'`,
        '  list: string (required)',
        '  t: string',
      ) +
      fence('add.response', '{last} = {Response.body.id}', 'Added {last}') +
      fence('get', 'GET $NET_URL/s{s}?a=%7E&q={q}', '  s: string', '  q: string', '  more: string'),
  );
  await run('/install ~/net', 'main');
  expect((await run('/act.add a', 'app:net')).text).toMatch(
    /^ERROR\(INVALID_PAYLOAD\): Unresolved environment variable: \$NET_(?:URL|TOKEN)\n/u,
  );
  await run(`/set $NET_URL = "${server.url}"`, 'app:net');
  await run('/set $NET_TOKEN = "secret-token"', 'app:net');
  const dry = await run(`/act.add "a/b" 'x "y"\nz' --dry-run`, 'app:net');
  expect(dry.text).toContain('Authorization: Bearer $NET_TOKEN');
  expect(server.seen).toEqual([]);
  expect((await run(`/act.add "a/b" 'x "y"\nz'`, 'app:net')).text).toBe('Added 7');
  expect(server.seen).toEqual([
    { path: '/tasks/a%2Fb', authorization: 'Bearer secret-token', body: '{"t":"re: x \\"y\\"\\nz"}' },
  ]);
  for (const [status, code] of [
    ['401', 'AUTH_REQUIRED'],
    ['404', 'NOT_FOUND'],
    ['500', 'LOAD_ERROR'],
  ]) {
    const failed = await run(`/act.get ${status} --more "1 2"`, 'app:net');
    expect(failed).toMatchObject({ ok: false, code });
    expect(failed.text.match(/x+$/u)?.[0]).toHaveLength(500);
    expect(server.seen.at(-1)?.path).toBe(`/s${status}?a=%7E&more=1%202`);
  }
  expect((await run('/set', 'app:net')).text).not.toContain('secret-token');
});

verifies('string/act/trust', async () => {
  await using other = await serve(() => ({ body: 'never' }));
  const page = `---\ndefault: own\n---\n${fence('own', 'GET /own')}${fence('run', 'CLI touch pwned')}${fence('away', `POST ${other.url}/exec -d '{}'`)}`;
  await using server = await serve((path) =>
    path === '/page.md' ? { body: page, type: 'text/markdown' } : { body: 'answer', type: 'text/plain' },
  );
  expect(await run(`/open ${server.url}/page.md`, 'trust')).toMatchObject({ ok: true });
  expect(server.seen.map(({ path }) => path)).toEqual(['/page.md']);
  expect((await run('/act.own', 'trust')).text).toBe('answer');
  expect((await run('/act.run', 'trust')).text).toMatch(
    /^ERROR\(FILE_NOT_ALLOWED\): Remote SFMD can only run HTTP actions/u,
  );
  expect(await run('/act.away', 'trust')).toMatchObject({ code: 'POLICY_DENIED' });
  expect(other.seen).toEqual([]);
});

verifies('string/install/life', async () => {
  const home = shared().home;
  put(
    'src/demo/string.md',
    `---\nname: demo\nnamespace: n\ntype: app\ndefault: hi\n---\n# Demo\n${fence('hi', 'CLI ./bin/hi.sh; echo "<$WHO>"')}`,
  );
  put('src/demo/bin/hi.sh', '#!/bin/sh\necho hi\n');
  expect((await run('/install ~/src/demo --dry-run', 'main')).text).toContain('hi: ./bin/hi.sh');
  expect((await run('/install', 'empty')).text).toBe(
    'ERROR(COMMAND_UNSUPPORTED): No source specified and no document is open.',
  );
  const installed = await run('/install ~/src/demo', 'main');
  expect(installed.text).toBe(
    `Installed app:demo\n  Source: ${home}/src/demo\n  Path: ${home}/packages/demo\nUse: /open app:demo`,
  );
  expect(await run('/set $WHO = "x"', 'main')).toMatchObject({ code: 'INVALID_TARGET' });
  expect((await run('/set $WHO = "shared"', 'app:demo')).text).toBe('$WHO = "shared" (demo)');
  expect((await run('/set $WHO = "special"', 'app:demo:cfg')).text).toBe('$WHO = "special" (demo:cfg)');
  const script = await run('/act.hi', 'app:demo');
  expect(script.text).toMatch(/Permission denied\n<shared>$/u); // it was not executable, and is not made so
  expect((await run('/act.hi', 'app:demo:cfg')).text).toMatch(/<special>$/u);
  expect((await run('/open', 'app:demo')).text).toMatch(/# Demo\n\n---\n\n[\s\S]*<shared>$/u);
  expect((await run('/uninstall demo', 'main')).text).toMatch(
    /^Uninstalled app:demo\n {2}Closed: app:demo, app:demo:cfg$/u,
  );
  expect((await run('/uninstall demo', 'main')).text).toBe('ERROR(NOT_FOUND): Package not found: demo');
  expect((await run('/open app:demo', 'main')).text).toMatch(
    /^ERROR\(NOT_FOUND\): App 'demo' is not installed/u,
  );
});

verifies('string/tool/run', async () => {
  put(
    'tools/pass.md',
    `---\ndefault: run\n---\n${fence('run', `CLI printf '[%s]' $ARGS`)}${fence('set', 'CLI echo 5')}${fence('set.response', '{kept} = {Response.body}', 'kept {kept}')}`,
  );
  expect((await run(`/tool:pass status; touch pwned '$(id)'`, 'tools')).text).toBe(
    '[status;][touch][pwned][$(id)]',
  );
  expect((await run('/tool:pass.set', 'tools')).text).toBe('kept 5');
  expect((await run('/set', 'tools')).text).toContain('{kept} = "5"');
  expect((await run('/tool:nobody', 'tools')).text).toMatch(/^ERROR\(NOT_FOUND\): Tool not found: nobody/u);
  put('tools/none.md', fence('a', 'CLI true'));
  expect((await run('/tool:none', 'tools')).text).toBe(
    'ERROR(INVALID_PAYLOAD): No default action for tool:none. Available: a',
  );
  expect(existsSync(join(shared().home, 'tools/pwned'))).toBe(false);
});
