// From a method and a path to a route.

import * as fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  defineRoute,
  type HttpMethod,
  type Match,
  type Route,
  Router,
} from '../../../../src/wire/http/router.js';
import { parseTarget } from '../../../../src/wire/http/target.js';
import { runs } from '../../../helpers/runs.js';

const route = (method: HttpMethod, path: string): Route => ({ method, path, summary: '', handler: () => {} });

const router = new Router([
  route('GET', '/'),
  route('GET', '/health'),
  route('GET', '/agents'),
  route('POST', '/agents'),
  route('DELETE', '/agents/:agent_id'),
  route('GET', '/agents/:id/webhook'),
  route('POST', '/agents/:id/webhook'),
  route('GET', '/agents/default/webhook'),
  route('DELETE', '/sessions/:agent_id/:topic'),
  route('OPTIONS', '/own'),
]);

const find = (method: string, path: string): string => {
  const match = router.match(method, path);
  return match.kind === 'found' ? `${match.route.path} ${JSON.stringify(match.params)}` : match.kind;
};

describe('finding', () => {
  test.each([
    ['GET', '/', '/ {}'],
    ['GET', '/health', '/health {}'],
    ['HEAD', '/health', '/health {}'],
    ['POST', '/agents', '/agents {}'],
    ['DELETE', '/agents/a%20b', '/agents/:agent_id {"agent_id":"a b"}'],
    ['GET', '/agents/x/webhook', '/agents/:id/webhook {"id":"x"}'],
    ['GET', '/agents/default/webhook', '/agents/default/webhook {}'],
    [
      'DELETE',
      '/sessions/a/app:weather:korea',
      '/sessions/:agent_id/:topic {"agent_id":"a","topic":"app:weather:korea"}',
    ],
    [
      'DELETE',
      '/sessions/a/b%2Fc%3A%E2%82%AC',
      '/sessions/:agent_id/:topic {"agent_id":"a","topic":"b/c:€"}',
    ],
    ['GET', '/%68ealth', '/health {}'],
  ])('%s %s is %s', (method, path, expected) => {
    expect(find(method, path)).toBe(expected);
  });

  test('a more literal path that lacks the method does not hide one that has it', () => {
    expect(find('POST', '/agents/default/webhook')).toBe('/agents/:id/webhook {"id":"default"}');
  });

  test.each([
    '/health/',
    '//health',
    '/health//',
    '/Health',
    '/agents//webhook',
    '/sessions/a/',
    '',
    '*',
    '/healthy',
    '/agents/a/b/c',
  ])('%j is exact: not found', (path) => {
    expect(find('GET', path)).toBe('not_found');
  });

  test.each(['/agents/%', '/agents/%zz', '/agents/%ff', '/agents/%E2%82', '/%c0%ae'])(
    'malformed percent-encoding in %s is an error, not a miss',
    (path) => {
      expect(router.match('DELETE', path)).toMatchObject({ kind: 'malformed' });
    },
  );

  test.each(['/agents/..', '/agents/.', '/agents/%2e%2E', '/../health', '/agents/a%00b'])(
    '%s never becomes a param',
    (path) => {
      expect(router.match('DELETE', path).kind).toBe('malformed');
    },
  );
});

describe('wrong methods and OPTIONS', () => {
  test('a known path says which methods it has', () => {
    expect(router.match('PUT', '/agents')).toEqual({
      kind: 'wrong_method',
      allow: ['GET', 'HEAD', 'OPTIONS', 'POST'],
    });
    expect(router.match('GET', '/agents/x')).toEqual({ kind: 'wrong_method', allow: ['DELETE', 'OPTIONS'] });
  });

  test('methods of every pattern that fits the path are counted', () => {
    expect(router.match('PUT', '/agents/default/webhook')).toMatchObject({
      allow: ['GET', 'HEAD', 'OPTIONS', 'POST'],
    });
  });

  test('OPTIONS is answered everywhere, with the methods where there are any', () => {
    expect(router.match('OPTIONS', '/agents/x')).toEqual({ kind: 'options', allow: ['DELETE', 'OPTIONS'] });
    expect(router.match('OPTIONS', '/nowhere')).toEqual({ kind: 'options', allow: [] });
    expect(router.match('OPTIONS', '*')).toEqual({ kind: 'options', allow: [] });
  });

  test('a route of its own for OPTIONS wins', () => {
    expect(find('OPTIONS', '/own')).toBe('/own {}');
  });
});

describe('the table', () => {
  test.each([
    [[route('GET', '/a'), route('GET', '/a')], 'already taken'],
    [[route('GET', '/a/:x'), route('GET', '/a/:y')], 'already taken'],
    [[route('GET', '/a/:x/:x')], 'two of one name'],
    [[route('GET', '/a/:')], 'nameless'],
    [[route('GET', 'a')], 'begin with /'],
  ])('a mistake in it fails at once (%#)', (routes, message) => {
    expect(() => new Router(routes)).toThrow(message);
  });

  test('a defined route knows its params by name', () => {
    const defined = defineRoute({
      method: 'GET',
      path: '/agents/:id/topics/:topic',
      summary: '',
      handler: ({ params }) => {
        expectTypeOf(params).toEqualTypeOf<Readonly<Record<'id' | 'topic', string>>>();
      },
    });
    expect(new Router([defined]).match('GET', '/agents/1/topics/2')).toMatchObject({
      params: { id: '1', topic: '2' },
    });
  });
});

describe('properties', () => {
  const segment = fc
    .string({ unit: 'binary', minLength: 1 })
    .filter((s) => s !== '.' && s !== '..' && !s.includes('\0'));

  test('an encoded param arrives as it was', () => {
    fc.assert(
      fc.property(segment, segment, (agent, topic) => {
        const match = router.match(
          'DELETE',
          `/sessions/${encodeURIComponent(agent)}/${encodeURIComponent(topic)}`,
        );
        expect(match).toMatchObject({ kind: 'found', params: { agent_id: agent, topic } });
      }),
      { numRuns: runs(3000) },
    );
  });

  test('any target and method get an answer, and a found route fits its path', () => {
    const piece = fc.constantFrom(
      '/',
      'agents',
      'health',
      'sessions',
      '%',
      '%2e',
      '.',
      '..',
      'x',
      '?',
      '#',
      ':',
      '*',
      '%00',
      'http://h',
    );
    const raw = fc.oneof(
      fc.array(piece, { maxLength: 8 }).map((p) => p.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'BREW'),
        raw,
        (method, text) => {
          const target = parseTarget(text);
          if (target === undefined) return;
          const match: Match = router.match(method, target.path);
          if (match.kind !== 'found') return;
          expect(match.route.path.split('/')).toHaveLength(target.path.split('/').length);
          for (const value of Object.values(match.params)) expect(value).not.toMatch(/^\.{0,2}$|\0/);
        },
      ),
      { numRuns: runs(5000) },
    );
  });
});

describe('targets', () => {
  test.each([
    ['/a?b=c?d', { path: '/a', query: 'b=c?d' }],
    ['//evil.com/x', { path: '//evil.com/x', query: '' }],
    ['http://host/a?b', { path: '/a', query: 'b' }],
    ['HTTP://host:80', { path: '/', query: '' }],
    ['https://host?q', { path: '/', query: 'q' }],
    ['*', { path: '*', query: '' }],
    ['/a?', { path: '/a', query: '' }],
  ])('%s is %j', (raw, expected) => {
    expect(parseTarget(raw)).toEqual(expected);
  });

  test.each(['', 'host:80', 'ftp://host/', 'a/b', '**'])('%j is not understood', (raw) => {
    expect(parseTarget(raw)).toBeUndefined();
  });
});
