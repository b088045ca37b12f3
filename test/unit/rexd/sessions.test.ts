// The sessions of a connection: whose they are, and were.

import { expect, test } from 'vitest';
import { LimitSet } from '../../../src/guard/limits.js';
import { Roots } from '../../../src/guard/roots.js';
import { REXD_LIMITS } from '../../../src/rexd/limits.js';
import { MAX_NAMES_REMEMBERED, SessionPlaces, Sessions } from '../../../src/rexd/sessions.js';

const facts = (clientName: string) => ({
  clientName,
  roots: Roots.open([]),
  limits: new LimitSet(REXD_LIMITS),
});

test('the client of a session is known beyond its end, for so many sessions', async () => {
  await using sessions = new Sessions(new SessionPlaces(1));
  expect(sessions.clientNameOf(undefined)).toBeUndefined();
  const ids: string[] = [];
  for (let i = 0; i <= MAX_NAMES_REMEMBERED; i++) {
    const { id } = sessions.open(facts(`client ${i}`));
    ids.push(id);
    expect(sessions.clientNameOf(id)).toBe(`client ${i}`);
    await sessions.end(id);
  }
  const last = `client ${MAX_NAMES_REMEMBERED}`;
  expect(sessions.clientNameOf(ids[1])).toBe('client 1');
  expect(sessions.clientNameOf(ids[0]), 'the oldest is forgotten').toBe(last);
  expect(sessions.clientNameOf('s_unknown')).toBe(last);
});
