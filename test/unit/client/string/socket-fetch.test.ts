// fetch over a plain socket: answers of every form, cut anywhere.

import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { readChunks } from '../../../../src/client/string/http-daemon.js';
import { HttpReplyReader, MAX_HEAD_BYTES } from '../../../../src/client/string/http-reply-reader.js';
import { socketFetch } from '../../../../src/client/string/socket-fetch.js';
import { runs } from '../../../helpers/runs.js';

describe('an answer', () => {
  const read = (chunks: readonly Buffer[], hasEnd = true) => {
    const reader = new HttpReplyReader();
    const body: Buffer[] = [];
    for (const chunk of chunks) {
      reader.push(chunk);
      body.push(...reader.take());
    }
    if (hasEnd && !reader.isComplete) reader.end();
    return {
      status: reader.status,
      body: Buffer.concat(body).toString('utf8'),
      isComplete: reader.isComplete,
    };
  };
  const chunked = (text: string): string =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${Buffer.byteLength(text).toString(16)};ext=1\r\n${text}\r\n0\r\nTrailer: x\r\n\r\n`;
  const forms: Readonly<Record<string, (text: string) => string>> = {
    length: (text) => `HTTP/1.1 404 Not Found\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    chunked,
    close: (text) => `HTTP/1.0 500 Oh\r\nA: b\r\n\r\n${text}`,
    continued: (text) => `HTTP/1.1 100 Continue\r\n\r\n${chunked(text)}`,
  };

  test.each(Object.entries(forms))('by %s, however it is cut', (_, make) => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
        fc.array(fc.nat(400)),
        (text, at) => {
          const bytes = Buffer.from(make(text));
          const cuts = [0, ...new Set(at.filter((each) => each < bytes.length)), bytes.length].sort(
            (a, b) => a - b,
          );
          const parts = cuts.slice(1).map((cut, index) => bytes.subarray(cuts[index], cut));
          expect(read(parts)).toMatchObject({ body: text, isComplete: true });
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  test('one without a body is complete at once', () => {
    expect(read([Buffer.from('HTTP/1.1 204 No Content\r\n\r\n')])).toMatchObject({
      status: 204,
      isComplete: true,
    });
  });

  test.each([
    ['SSH-2.0-x\r\n\r\n', 'does not begin with a status'],
    ['HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', 'a length of "-1"'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'a chunk without a size'],
    [`HTTP/1.1 200 OK\r\nA: ${'a'.repeat(MAX_HEAD_BYTES)}`, 'headers without an end'],
    [
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(MAX_HEAD_BYTES)}`,
      'a line without an end',
    ],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc', 'ended in the middle'],
  ])('%# that is none is refused', (text, problem) => {
    expect(() => read([Buffer.from(text)])).toThrow(problem);
  });
});

describe('a request', () => {
  let server: Server | undefined;
  afterEach(async () => {
    if (server === undefined) return;
    server.close();
    await once(server, 'close');
  });
  const listen = async (onConnection: (socket: Socket) => void): Promise<string> => {
    server = createServer(onConnection).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  };

  test('has its method, headers and body; the answer comes piece by piece', async () => {
    let asked = '';
    const url = await listen((socket) => {
      socket.on('data', (chunk: Buffer) => {
        asked += chunk.toString('utf8');
        if (asked.endsWith('{"é":1}')) socket.end('HTTP/1.1 200 OK\r\n\r\nfine');
      });
    });
    const reply = await socketFetch(`${url}/exec?stream=1`, {
      method: 'POST',
      headers: { 'X-A': 'b' },
      body: '{"é":1}',
    });
    const parts = [];
    for await (const chunk of readChunks(reply)) parts.push(chunk);
    expect([reply.status, reply.ok, Buffer.concat(parts).toString('utf8')]).toEqual([200, true, 'fine']);
    expect(asked).toMatch(/^POST \/exec\?stream=1 HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/);
    expect(asked).toContain('\r\nX-A: b\r\nContent-Length: 8\r\n\r\n');
  });

  test('is cut by its signal, before and after the answer has begun', async () => {
    const url = await listen((socket) => {
      socket.on('error', () => {}).resume();
      socket.write('HTTP/1.1 200 OK\r\n\r\nbegun');
    });
    const abort = new AbortController();
    const reply = await socketFetch(url, { signal: abort.signal });
    const reading = (async () => {
      for await (const _ of readChunks(reply)) abort.abort(new Error('enough'));
    })();
    await expect(reading).rejects.toThrow('enough');
    await expect(socketFetch(url, { signal: abort.signal })).rejects.toThrow('enough');
  });

  test('with a header that has a line break, or to where no http is spoken, is not sent', async () => {
    const connected: Socket[] = [];
    const url = await listen((socket) => void connected.push(socket.resume().end()));
    for (const value of ['a\r\nX-B: c', 'a\nb', 'a\0'])
      await expect(socketFetch(url, { headers: { 'X-A': value } })).rejects.toThrow('a control character');
    await expect(socketFetch(url.replace('http:', 'https:'), {})).rejects.toThrow('only http:');
    expect(connected).toEqual([]);
  });

  test('to an IPv6 address goes to the address, not to a name', async () => {
    await expect(socketFetch('http://[::1]:1/', {})).rejects.toMatchObject({ syscall: 'connect' });
  });

  test('to nobody, and to one that hangs up, fails as the system says', async () => {
    const url = await listen((socket) => void socket.resume().end());
    await expect(socketFetch(url, {})).rejects.toThrow('before there was an answer');
    const nobody = 'http://127.0.0.1:1/'; // a port that no other test is given
    await expect(socketFetch(nobody, {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
