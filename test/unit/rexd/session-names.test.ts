import { expect, test } from 'vitest';
import { LimitSet } from '../../../src/guard/limits.js';
import { Roots } from '../../../src/guard/roots.js';
import { REXD_LIMITS } from '../../../src/rexd/limits.js';
import { MAX_NAMES_REMEMBERED, SessionPlaces, Sessions } from '../../../src/rexd/sessions.js';

test('whose a session was is known for a while after its end, for the last of them', async () => {
  await using sessions = new Sessions(new SessionPlaces(1));
  const limits = new LimitSet(REXD_LIMITS);
  const ids: string[] = [];
  for (let i = 0; i <= MAX_NAMES_REMEMBERED; i++) {
    const session = sessions.open({ clientName: `client ${i}`, roots: Roots.open([]), limits });
    expect(sessions.clientNameOf(session.id)).toBe(`client ${i}`);
    ids.push(session.id);
    await sessions.end(session.id);
  }
  const last = `client ${MAX_NAMES_REMEMBERED}`;
  expect(sessions.clientNameOf(ids[0])).toBe(last); // forgotten: whoever opened the last one
  expect(sessions.clientNameOf(ids[1])).toBe('client 1');
  expect(sessions.clientNameOf(ids.at(-1))).toBe(last);
});
