// What request bodies may hold together.

import { expect, test } from 'vitest';
import { readBody } from '../../../../src/wire/http/body.js';
import { BodyBudget, UNCOUNTED_BODY_BYTES } from '../../../../src/wire/http/body-budget.js';
import { sendText } from '../../../../src/wire/http/reply.js';
import { gate, request, route, TestServer } from './kit.js';

test('bodies past the budget are refused, small ones never, and what was held is given back', () => {
  const budget = new BodyBudget(1000);
  const first = budget.open();
  first.take(UNCOUNTED_BODY_BYTES);
  first.take(UNCOUNTED_BODY_BYTES + 600);
  const second = budget.open();
  second.take(UNCOUNTED_BODY_BYTES + 400);
  expect(() => second.take(UNCOUNTED_BODY_BYTES + 401)).toThrow('more than 1000 bytes');
  budget.open().take(UNCOUNTED_BODY_BYTES);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  second.take(UNCOUNTED_BODY_BYTES + 1000);
  expect(() => budget.open().take(UNCOUNTED_BODY_BYTES + 1)).toThrow('more than 1000 bytes');
});

test('a request whose body finds no room is told to come later, and finds room when another has been answered', async () => {
  const budget = new BodyBudget(1000);
  const answer = gate();
  const held = gate();
  const arrived = 'x'.repeat(UNCOUNTED_BODY_BYTES + 900);
  const hold = route(
    '/hold',
    async (ctx) => {
      using share = budget.open();
      const body = await readBody(ctx, { share });
      held.open();
      await answer.promise;
      sendText(ctx, 200, String(body.length));
    },
    'POST',
  );
  await using kit = await TestServer.start({ routes: [hold], settings: { maxBodyBytes: 1_000_000 } });
  const first = kit.exchange(request('POST /hold', {}, arrived));
  await held.promise;
  const refused = await kit.exchange(request('POST /hold', {}, arrived));
  expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
  answer.open();
  expect(await first).toMatchObject({ status: 200, body: String(arrived.length) });
  expect(await kit.exchange(request('POST /hold', {}, arrived))).toMatchObject({ status: 200 });
});
