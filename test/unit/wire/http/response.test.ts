import { describe, expect, test } from 'vitest';
import { openEventStream } from '../../../../src/wire/http/event-stream.js';
import { sendEmpty, sendJson } from '../../../../src/wire/http/reply.js';
import { request, route, TestServer } from './kit.js';

const HEADERS = { 'X-Always': 'yes', 'X-Also': 'this' };

describe('headers of every answer', () => {
  test.each([
    ['JSON', '/json', 200],
    ['nothing', '/empty', 204],
    ['a stream', '/stream', 200],
    ['an error', '/nowhere', 404],
    ['a failure', '/failure', 500],
  ])('are there with %s, once each', async (_, path, status) => {
    await using kit = await TestServer.start({
      headers: HEADERS,
      routes: [
        route('/json', (ctx) => sendJson(ctx, 200, {}, { 'X-Own': '1' })),
        route('/empty', (ctx) => sendEmpty(ctx, 204, { 'X-Own': '1' })),
        route('/stream', (ctx) => openEventStream(ctx, { headers: { 'X-Own': '1' } }).close()),
        route('/failure', () => {
          throw new Error('on purpose');
        }),
      ],
    });
    const answer = await kit.exchange(request(`GET ${path}`));
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject(HEADERS);
    expect(answer.head.match(/^X-Always:/gim)).toHaveLength(1);
    expect(answer.headers['X-Own']).toBe(status < 400 ? '1' : undefined);
  });

  test('give way to what an answer says itself', async () => {
    await using kit = await TestServer.start({
      headers: HEADERS,
      routes: [route('/own', (ctx) => sendJson(ctx, 200, {}, { 'x-always': 'no', 'X-Also': undefined }))],
    });
    const { head } = await kit.exchange(request('GET /own'));
    expect(head.match(/^X-Al.*$/gim)?.map((line) => line.trim())).toEqual(['X-Also: this', 'x-always: no']);
  });
});
