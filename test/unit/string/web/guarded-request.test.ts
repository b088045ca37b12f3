// Requests to the web: what may be reached from where, and what comes back within bounds.

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  type GuardedRequest,
  guardedRequest,
  MAX_REDIRECTS,
  MAX_RESPONSE_BYTES,
  REQUEST_TIMEOUT_MS,
} from '../../../../src/string/web/guarded-request.js';
import { isLoopbackHost, isPublicAddress } from '../../../../src/string/web/public-address.js';
import { AddressRefusedError, RequestFailedError } from '../../../../src/string/web/request-errors.js';

async function serve(listener: RequestListener): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const ask = (url: string, more: Partial<GuardedRequest> = {}): ReturnType<typeof guardedRequest> =>
  guardedRequest({ url, reach: 'any', signal: AbortSignal.timeout(60_000), ...more });

describe('addresses', () => {
  test.each([
    '127.0.0.1',
    '127.255.0.9',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12::1',
    'fec0::1',
    'ff02::1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'localhost',
    '',
  ])('%j is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
    '%j is',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test('a name is loopback only when it says so', () => {
    for (const name of ['localhost', 'x.localhost', '127.0.0.1', '[::1]', '127.9.9.9'])
      expect(isLoopbackHost(name)).toBe(true);
    for (const name of ['example.com', '10.0.0.1', 'localhost.example.com', '127.0.0.1.example.com'])
      expect(isLoopbackHost(name)).toBe(false);
  });
});

describe('a request', () => {
  test('brings method, headers and body, and what was answered', async () => {
    await using server = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => {
        response
          .writeHead(201, { 'x-answer': 'yes' })
          .end(`${request.method} ${String(request.headers['x-asked'])} ${text}`);
      });
    });
    const answer = await ask(`${server.origin}/a?b=1`, {
      method: 'post',
      headers: { 'X-Asked': 'ja' },
      body: 'hallö',
    });
    expect(answer).toMatchObject({ status: 201, url: `${server.origin}/a?b=1` });
    expect(answer.headers['x-answer']).toBe('yes');
    expect(answer.body.toString()).toBe('POST ja hallö');
  });

  test.each([
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://[::1]:1/',
    'http://0x7f.1:1/',
    'http://2130706433:1/',
    'http://[::ffff:127.0.0.1]:1/',
    'http://0:1/',
  ])('does not reach %s from a public place', async (url) => {
    await expect(ask(url, { reach: 'public' })).rejects.toThrow(AddressRefusedError);
  });

  test('of a page reaches its origin only, and this machine only when the page is of this machine', async () => {
    await using server = await serve((_, response) => response.end('ok'));
    const { origin } = server;
    expect((await ask(`${origin}/x`, { reach: { origin } })).body.toString()).toBe('ok');
    await expect(ask(`${origin}/x`, { reach: { origin: 'http://127.0.0.1:1' } })).rejects.toThrow(
      AddressRefusedError,
    );
    await expect(ask(origin, { reach: { origin: 'https://example.com' } })).rejects.toThrow(
      AddressRefusedError,
    );
  });

  test('follows redirects, and takes nothing secret to another origin', async () => {
    const seen: string[] = [];
    await using other = await serve((request, response) => {
      seen.push(
        `${request.method} ${request.headers.authorization} ${request.headers.cookie} ${String(request.headers['x-key'])} ${request.headers.accept}`,
      );
      response.end('there');
    });
    await using server = await serve((request, response) => {
      if (request.url === '/near') return response.writeHead(302, { location: '/again' }).end();
      if (request.url === '/again') seen.push(`${request.headers.authorization}`);
      return response.writeHead(302, { location: other.origin }).end();
    });
    const headers = { Authorization: 'Bearer s', Cookie: 'a=b', 'X-Key': 'k', Accept: 'text/plain' };
    expect((await ask(`${server.origin}/near`, { headers })).url).toBe(`${other.origin}/`);
    expect(seen).toEqual(['Bearer s', 'GET undefined undefined undefined text/plain']);
    await expect(ask(`${server.origin}/near`, { headers, reach: { origin: server.origin } })).rejects.toThrow(
      AddressRefusedError,
    );
  });

  test('that sends something does not send it on to another origin, nor as a GET', async () => {
    const seen: string[] = [];
    await using server = await serve((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      if (request.url === '/303') response.writeHead(303, { location: '/end' }).end();
      else if (request.url === '/308') response.writeHead(308, { location: 'http://127.0.0.1:1/' }).end();
      else response.end();
    });
    await ask(`${server.origin}/303`, { method: 'POST', body: 'x' });
    expect(seen).toEqual(['POST /303', 'GET /end']);
    await expect(ask(`${server.origin}/308`, { method: 'POST', body: 'x' })).rejects.toThrow(
      AddressRefusedError,
    );
  });

  test('ends at its bounds: MAX_REDIRECTS, MAX_RESPONSE_BYTES also of what was compressed, REQUEST_TIMEOUT_MS', async () => {
    let asked = 0;
    await using server = await serve((request, response) => {
      asked += 1;
      if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (request.url === '/bomb')
        response
          .writeHead(200, { 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(MAX_RESPONSE_BYTES + 1)));
      else if (request.url === '/fits')
        response
          .writeHead(200, { 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(MAX_RESPONSE_BYTES)));
      else if (request.url === '/broken')
        response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip');
      // else: never
    });
    const { origin } = server;
    await expect(ask(`${origin}/loop`)).rejects.toThrow(RequestFailedError);
    expect(asked).toBe(MAX_REDIRECTS + 1);
    await expect(ask(`${origin}/bomb`)).rejects.toThrow(`more than ${MAX_RESPONSE_BYTES} bytes`);
    expect((await ask(`${origin}/fits`)).body).toHaveLength(MAX_RESPONSE_BYTES);
    await expect(ask(`${origin}/broken`)).rejects.toThrow(RequestFailedError);
    await expect(ask(`${origin}/never`, { timeoutMs: 50 })).rejects.toThrow('timed out after 50 ms');
    expect(REQUEST_TIMEOUT_MS).toBe(15_000);
    await expect(ask(`${origin}/never`, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
    await expect(ask('ftp://127.0.0.1/')).rejects.toThrow('Unsupported URI scheme');
    await expect(ask('no address')).rejects.toThrow('not an address');
  });
});

describe('a server that does not keep to the rules', () => {
  test('and switches to another protocol is no answer, and keeps nobody waiting', async () => {
    await using server = await serve((request) => {
      request.socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello',
      );
    });
    await expect(ask(`${server.origin}/`)).rejects.toThrow(RequestFailedError);
  });

  test('a name that is no encoding of anything is sent as it is written', async () => {
    await using server = await serve((request, response) => {
      response.end(request.headers.authorization ?? '');
    });
    const { body } = await ask(`${server.origin.replace('//', '//%zz:p%40@')}/`);
    expect(body.toString()).toBe(`Basic ${Buffer.from('%zz:p@').toString('base64')}`);
  });
});
