// Which requests a web page could have made, and so are refused.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BrowserGuardOptions,
  createBrowserGuard,
  isLoopbackAuthority,
  PERMISSIVE_WARNING,
} from '../../../src/guard/browser-guard.js';
import { sendText } from '../../../src/wire/http/reply.js';
import type { RequestGuard } from '../../../src/wire/http/server.js';
import { request, route, TestServer } from '../wire/http/kit.js';
import { runs } from '../../helpers/runs.js';

const LOOPBACK = [
  'localhost',
  'LocalHost',
  'localhost.',
  'localhost:3923',
  'LOCALHOST.:1',
  'localhost:',
  '127.0.0.1',
  '127.0.0.1:80',
  '127.1.2.3:65535',
  '127.255.255.254',
  '[::1]',
  '[::1]:3923',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]:8080',
  '[::FFFF:7F00:1]',
];

const FOREIGN = [
  '',
  ' ',
  ':80',
  'evil.com',
  'evil.com:3923',
  'localhost.evil.com',
  'evil.localhost',
  'localhost..',
  'xlocalhost',
  'localhost.evil.com:3923',
  '127.0.0.1.evil.com',
  '127.0.0.1.nip.io',
  '127.evil.com',
  '1.127.0.0.1',
  '127.0.0.1.',
  '127.0.0',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.0.0.01',
  '127.0.0.256',
  '128.0.0.1',
  '0.0.0.0',
  '0.0.0.0:3923',
  '10.0.0.1',
  '169.254.169.254',
  '192.168.1.1',
  '[::]',
  '[::2]',
  '[fe80::1]',
  '[::1%lo]',
  '[::1',
  '::1',
  '::1]',
  '[::1]evil.com',
  '[::1].evil.com',
  '[::ffff:8.8.8.8]',
  '[::127.0.0.1]',
  '[]',
  '[127.0.0.1]',
  'user@localhost',
  'localhost@evil.com',
  'localhost:80@evil.com',
  'evil.com#localhost',
  'evil.com/localhost',
  'evil.com\\@localhost',
  'localhost/',
  'localhost?',
  'localhost:80:80',
  'localhost:99999',
  'localhost:0x50',
  'localhost:-1',
  'localhost :80',
  'localhost, evil.com',
  'localhost,localhost',
  'lоcalhost',
  'localhost%2eevil.com',
  'localhost\u0000',
  'http://localhost',
  '*',
  'null',
  'ⓛocalhost',
  'localhost\n',
];

describe('Host', () => {
  test.each(LOOPBACK)('%j is this machine', (host) => {
    expect(check({ host: [host] })).toBeUndefined();
  });

  test.each(FOREIGN)('%j is not', (host) => {
    expect(check({ host: [host] })).toMatchObject({ status: 403, code: 'forbidden_host' });
  });

  test('none at all is refused', () => {
    expect(check({ host: [] })?.code).toBe('forbidden_host');
  });

  test('two are refused, even two that are fine', () => {
    expect(check({ host: ['localhost', 'evil.com'] })?.code).toBe('forbidden_host');
    expect(check({ host: ['localhost', 'localhost'] })?.code).toBe('forbidden_host');
  });

  test('the name of a header counts in any case', () => {
    const guard = createBrowserGuard();
    expect(guard({ url: '/', rawHeaders: ['hOsT', 'localhost', 'oRIGIN', 'http://evil.com'] })?.code).toBe(
      'forbidden_origin',
    );
  });
});

describe('target', () => {
  test.each([
    'http://evil.com/',
    'http://evil.com',
    'HTTPS://evil.com:80?x',
    'http://localhost@evil.com/',
    'ftp://localhost/',
  ])('%j names another host than the header, and is refused', (url) => {
    expect(check({ url })?.code).toBe('forbidden_host');
  });

  test.each([
    '/',
    '*',
    '//evil.com/x',
    '/http://evil.com/',
    'http://localhost/x',
    'http://127.0.0.1:1?y',
    'HTTP://[::1]',
  ])('%j stays here, and passes', (url) => {
    expect(check({ url })).toBeUndefined();
  });

  test('a loopback target does not excuse a foreign Host', () => {
    expect(check({ url: 'http://localhost/', host: ['evil.com'] })?.code).toBe('forbidden_host');
  });
});

describe('Origin', () => {
  test('a program that sends none passes', () => {
    expect(check({})).toBeUndefined();
  });

  test.each(LOOPBACK.filter((host) => !host.endsWith(':')))('http(s)://%s passes', (host) => {
    expect(check({ origin: [`http://${host}`] })).toBeUndefined();
    expect(check({ origin: [`HTTPS://${host}`] })).toBeUndefined();
  });

  test.each([
    'null',
    '',
    'http://',
    'localhost',
    'file://',
    'file://localhost',
    'chrome-extension://abc',
    'https://evil.com',
    'http://localhost.evil.com',
    'http://localhost, http://evil.com',
    'http://localhost http://evil.com',
    'http://localhost/',
    'http://a@localhost',
    '//localhost',
    'ws://localhost',
    'https://http://localhost',
  ])('%j is refused', (origin) => {
    expect(check({ origin: [origin] })).toMatchObject({ status: 403, code: 'forbidden_origin' });
  });

  test('every one of several must pass', () => {
    expect(check({ origin: ['http://localhost', 'http://evil.com'] })?.code).toBe('forbidden_origin');
    expect(check({ origin: ['http://evil.com', 'http://localhost'] })?.code).toBe('forbidden_origin');
  });
});

describe('Sec-Fetch-Site', () => {
  test.each(['same-origin', 'same-site', 'none'])('%s passes', (site) => {
    expect(check({ site: [site] })).toBeUndefined();
  });

  test.each([['cross-site'], ['Cross-Site'], ['same-origin, cross-site'], ['none', 'cross-site']])(
    '%j is refused without an Origin, as a link or an image would be',
    (...site) => {
      expect(check({ site })?.code).toBe('forbidden_cross_site');
    },
  );
});

describe('options', () => {
  test('permissive mode lets everything pass', () => {
    const open = { mode: 'permissive' } as const;
    expect(check({ host: ['evil.com'], origin: ['null'], site: ['cross-site'] }, open)).toBeUndefined();
    expect(check({ host: [] }, open)).toBeUndefined();
    expect(PERMISSIVE_WARNING).toContain('any web page');
  });

  test('an extra host is exact: with any port, or with the one port it was given', () => {
    const options = { hosts: ['Plane.Example', 'box:8443'] };
    const passes = (host: string): boolean => check({ host: [host] }, options) === undefined;
    expect(['plane.example', 'PLANE.example:1', 'box:8443'].filter(passes)).toHaveLength(3);
    const others = [
      'x.plane.example',
      'plane.example.evil.com',
      'plane.example.',
      'box',
      'box:1',
      'a@plane.example',
    ];
    expect(others.filter(passes)).toEqual([]);
  });

  test('an extra origin is exact, and an extra host does not make one', () => {
    const options = { hosts: ['plane.example'], origins: ['https://plane.example', 'vscode-webview://x'] };
    const passes = (origin: string): boolean => check({ origin: [origin] }, options) === undefined;
    expect(
      ['https://plane.example', 'https://PLANE.example', 'vscode-webview://x'].filter(passes),
    ).toHaveLength(3);
    expect(
      ['http://plane.example', 'https://plane.example:1', 'https://plane.example.x', 'null'].filter(passes),
    ).toEqual([]);
  });
});

describe('properties', () => {
  const port = fc.option(
    fc.integer({ min: 0, max: 65_535 }).map((n) => `:${n}`),
    { nil: '' },
  );
  const upperMix = fc
    .tuple(fc.constantFrom('localhost', 'localhost.'), fc.array(fc.boolean()))
    .map(([text, ups]) =>
      text
        .split('')
        .map((char, i) => (ups[i] === true ? char.toUpperCase() : char))
        .join(''),
    );
  const octet = fc.nat({ max: 255 });
  const v4 = fc.tuple(octet, octet, octet).map((rest) => `127.${rest.join('.')}`);
  const v6 = fc.oneof(
    fc.constantFrom('[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]'),
    v4.map((address) => `[::ffff:${address}]`),
  );

  test('every spelling of a loopback host passes, as Host and as Origin', () => {
    fc.assert(
      fc.property(fc.oneof(upperMix, v4, v6), port, (name, suffix) => {
        expect(check({ host: [name + suffix], origin: [`http://${name}${suffix}`] })).toBeUndefined();
      }),
      { numRuns: runs(5000) },
    );
  });

  /** What a URL parser takes the name for is what a browser would have connected to. */
  test('a host that passes means loopback to a URL parser too', () => {
    const parts = fc.constantFrom(
      'localhost',
      '127.0.0.1',
      '127',
      '.',
      ':',
      '@',
      '[::1]',
      '[',
      ']',
      'evil.com',
      '0',
      '/',
      '\\',
      '%2e',
      '#',
      '1',
      ' ',
      '٠',
      '-',
    );
    const anything = fc.oneof(
      fc.array(parts, { maxLength: 6 }).map((p) => p.join('')),
      fc.webAuthority(),
      fc.string(),
      fc.domain(),
      fc.ipV4Extended(),
      fc.ipV6().map((a) => `[${a}]`),
    );
    fc.assert(
      fc.property(anything, (host) => {
        if (!isLoopbackAuthority(host)) return;
        const { hostname, username, pathname } = new URL(`http://${host}/`);
        expect([username, pathname]).toEqual(['', '/']);
        expect(hostname).toMatch(
          /^(localhost\.?|127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])$/,
        );
      }),
      { numRuns: runs(10_000) },
    );
  });

  test('a name with anything more than localhost in it never passes', () => {
    fc.assert(
      fc.property(
        fc.domain(),
        fc.constantFrom('localhost.', '127.0.0.1.', ''),
        port,
        (domain, prefix, suffix) => {
          expect(check({ host: [prefix + domain + suffix] })?.status).toBe(403);
          expect(check({ origin: [`https://${prefix}${domain}${suffix}`] })?.status).toBe(403);
        },
      ),
      { numRuns: runs(5000) },
    );
  });
});

describe('before a server', () => {
  const run = route('/exec', (ctx) => sendText(ctx, 200, 'ran'), 'POST');
  const ask = async (guard: RequestGuard, text: string): Promise<[number, string | undefined]> => {
    await using kit = await TestServer.start({
      routes: [run],
      guard,
      headers: { 'Access-Control-Allow-Origin': '*' },
    });
    const { status, headers } = await kit.exchange(text);
    return [status, headers['Access-Control-Allow-Origin']];
  };

  test.each([
    ['a program', request('POST /exec'), 200],
    [
      'a page of this machine',
      request('POST /exec', { Origin: 'http://localhost:5173', 'Sec-Fetch-Site': 'same-site' }),
      200,
    ],
    [
      'a page elsewhere',
      request('POST /exec', { Origin: 'https://evil.com', 'Sec-Fetch-Site': 'cross-site' }),
      403,
    ],
    ['its preflight', request('OPTIONS /exec', { Origin: 'https://evil.com' }), 403],
    ['a form in a sandboxed frame', request('POST /exec', { Origin: 'null' }), 403],
    ['a name rebound to this machine', request('POST /exec', { Host: 'evil.com:3923' }), 403],
    ['a proxy request', request('POST http://evil.com/exec'), 403],
    ['two Hosts', request('POST /exec', { host: 'evil.com' }), 403],
    ['no Host', 'POST /exec HTTP/1.1\r\n\r\n', 403],
    ['an unknown path', request('GET /none', { Host: 'evil.com' }), 403],
  ])('%s gets its answer', async (_, text, status) => {
    expect(await ask(createBrowserGuard(), text)).toEqual([status, '*']);
  });

  test('permissive means literally anybody', async () => {
    const text = request('POST /exec', {
      Host: 'evil.com',
      Origin: 'https://evil.com',
      'Sec-Fetch-Site': 'cross-site',
    });
    expect(await ask(createBrowserGuard({ mode: 'permissive' }), text)).toEqual([200, '*']);
  });
});

interface Head {
  readonly url?: string;
  readonly host?: readonly string[];
  readonly origin?: readonly string[];
  readonly site?: readonly string[];
}

function check(
  { url = '/', host = ['127.0.0.1:3923'], origin = [], site = [] }: Head,
  options: BrowserGuardOptions = {},
) {
  const rawHeaders = [
    ...host.flatMap((value) => ['Host', value]),
    'Accept',
    '*/*',
    ...origin.flatMap((value) => ['Origin', value]),
    ...site.flatMap((value) => ['Sec-Fetch-Site', value]),
  ];
  return createBrowserGuard(options)({ url, rawHeaders });
}
