import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fillBody } from '../../../../src/string/actions/fill-body.js';
import { MAX_ERROR_BODY_CHARS } from '../../../../src/string/actions/run-http-action.js';
import { runs } from '../../../helpers/runs.js';
import { fence, makeActPlace, startEcho } from './act-place.js';

const given = (values: Record<string, string>) => ({
  values: new Map(Object.entries(values)),
  variables: new Map<string, string>(),
  env: () => undefined,
  context: () => undefined,
  isDeclared: (name: string) => name === 'absent',
  readFile: () => Promise.reject(new Error('no files here')),
});

describe('bodies', () => {
  test('inside of a string of JSON, a value stays inside', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (a) => {
        const value = a.toWellFormed();
        const body = await fillBody(
          '{"a":"{a}","b":"re: {a}!","c":"\\"{a}"}',
          'application/json',
          given({ a: value }),
        );
        expect(JSON.parse(body)).toEqual({ a: value, b: `re: ${value}!`, c: `"${value}` });
      }),
      { numRuns: runs(5000) },
    );
  });

  test('outside of one, only JSON stays as it is', async () => {
    const fill = (n: string) => fillBody('{"n": {n}, "o": {absent}}', 'application/json', given({ n }));
    expect(JSON.parse(await fill('5'))).toEqual({ n: 5, o: null });
    expect(JSON.parse(await fill('{"x":1}'))).toEqual({ n: { x: 1 }, o: null });
    expect(JSON.parse(await fill('1, "admin": true'))).toEqual({ n: '1, "admin": true', o: null });
  });

  test('other forms', async () => {
    expect(
      await fillBody('a={a}&b={absent}', 'application/x-www-form-urlencoded', given({ a: 'x&y=z ü' })),
    ).toBe('a=x%26y%3Dz%20%C3%BC&b=');
    expect(await fillBody('{a}', 'application/json', given({ a: 'as it is' }))).toBe('as it is');
    expect(await fillBody('{"a":"{a|base64}"}', 'application/json', given({ a: 'hi' }))).toBe('{"a":"aGk="}');
  });
});

describe('requests', () => {
  test('values in the address, the rest in the query, what the author wrote to the letter', async () => {
    await using place = makeActPlace();
    await using echo = await startEcho();
    await place.page(
      fence(
        'get',
        `GET ${echo.url}/a%2Fb/{id}?keep=%7E+x&q={q}&none={none}#frag`,
        '  id: string (required)',
        '  q: string',
        '  none: string',
        '  more: string',
      ),
    );
    await place.act('/act.get "a/b c?" --q "x&y" --more "ä b" --undeclared 1');
    expect(echo.seen[0]?.path).toBe('/a%2Fb/a%2Fb%20c%3F?keep=%7E+x&q=x%26y&more=%C3%A4%20b&undeclared=1');
    expect(echo.seen[0]?.headers.accept).toBe('text/markdown, text/plain');
    expect(await place.act('/act.get ..')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  });

  test('what is left becomes a body of JSON', async () => {
    await using place = makeActPlace();
    await using echo = await startEcho();
    await place.page(
      fence(
        'add',
        `POST ${echo.url}/{list}`,
        '  list: string',
        '  title: string',
        '  n: number',
        '  on: boolean',
        '  tags: json',
      ) + fence('tpl', `PATCH ${echo.url}/x -H "X-A: {who}" -d '{"t":"{title}"}'`, '  title: string'),
    );
    await place.act(`/act.add a --title 'say "hi"\nthere' --n 5 --on --tags '["x"]'`);
    expect(echo.seen[0]).toMatchObject({ method: 'POST', path: '/a' });
    expect(JSON.parse(echo.seen[0]?.body ?? '')).toEqual({
      title: 'say "hi"\nthere',
      n: 5,
      on: true,
      tags: ['x'],
    });
    expect(echo.seen[0]?.headers['content-type']).toBe('application/json');
    await place.act('/set {who} = "me"');
    await place.act('/act.tpl "a \\ \\"b\\""');
    expect(echo.seen[1]).toMatchObject({ method: 'PATCH', headers: { 'x-a': 'me' } });
    expect(JSON.parse(echo.seen[1]?.body ?? '')).toEqual({ t: 'a \\ "b"' });
    await place.act('/set {who} = "é…"');
    expect(await place.act('/act.tpl x')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  });

  test('what went wrong', async () => {
    await using place = makeActPlace();
    await using echo = await startEcho(({ path }, response) => {
      const status = Number(path.slice(1));
      if (path === '/never') return true;
      response.statusCode = status;
      response.end('x'.repeat(2000));
      return true;
    });
    await place.page(
      fence('get', `GET ${echo.url}/{s}`, '  s: string') +
        fence('never', `GET ${echo.url}/never`, '  timeout: 200ms') +
        fence('unset', 'GET http://x/ -H "A: $TOKEN"') +
        fence('nowhere', 'GET relative/path') +
        fence('gone', 'GET http://127.0.0.1:1/'),
    );
    for (const [status, code] of [
      ['401', 'AUTH_REQUIRED'],
      ['403', 'AUTH_REQUIRED'],
      ['404', 'NOT_FOUND'],
      ['500', 'LOAD_ERROR'],
    ]) {
      const result = await place.act(`/act.get ${status}`);
      expect(result).toMatchObject({ ok: false, code });
      expect(result.content).toMatch(new RegExp(`^HTTP ${status} `, 'u'));
      expect(result.content.endsWith(`\n${'x'.repeat(MAX_ERROR_BODY_CHARS)}`)).toBe(true);
    }
    expect(await place.act('/act.never')).toMatchObject({ code: 'TIMEOUT' });
    const unset = await place.act('/act.unset');
    expect(unset).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(unset.content).toMatch(/^Unresolved environment variable: \$TOKEN\n.*\/set \$TOKEN = /u);
    expect(await place.act('/act.nowhere')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(await place.act('/act.gone')).toMatchObject({ code: 'LOAD_ERROR' });
  });

  test('{x|file} reads what the agent may read', async () => {
    await using place = makeActPlace();
    await using echo = await startEcho();
    await place.page(
      fence('up', `POST ${echo.url}/ -d '{"a":"{f|file}","b":"{f|base64file}"}'`, '  f: path'),
    );
    place.file('note.txt', '"note"\n');
    await place.act('/act.up note.txt');
    expect(JSON.parse(echo.seen[0]?.body ?? '')).toEqual({
      a: '"note"\n',
      b: Buffer.from('"note"\n').toString('base64'),
    });
    expect(await place.act('/act.up /etc/passwd')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    expect(echo.seen).toHaveLength(1);
  });

  test('an answer is kept in files of the agent, but for those the home is made of', async () => {
    await using place = makeActPlace();
    await using echo = await startEcho(({ path }, response) => {
      response.end(JSON.stringify({ data: 'aGk=', to: decodeURIComponent(path.slice(1)) }));
      return true;
    });
    await place.page(
      fence('get', `GET ${echo.url}/{to}`, '  to: string') +
        fence('get.response', 'save: Response.body.data', 'decode: base64', 'to: {Response.body.to}'),
    );
    expect((await place.act('/act.get out/x.txt')).content).toBe('Saved: ~/out/x.txt (2 bytes)');
    expect((await place.act('/open ~/out/x.txt')).content).toContain('hi');
    await place.act('/open ~/page.md');
    for (const path of [
      'config.json',
      'packages/x/string.md',
      'apps/x/env.json',
      'tools/x.md',
      '/etc/passwd',
      '../outside/x',
    ])
      expect(await place.act(`/act.get ${path}`), path).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
  });
});
