// A session is resumed by a connection that is there: one that has ended meanwhile leaves it where it was.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LimitSet } from '../../../../src/guard/limits.js';
import { Roots } from '../../../../src/guard/roots.js';
import { REXD_LIMITS } from '../../../../src/rexd/limits.js';
import { resumeSession } from '../../../../src/rexd/methods/session-resume.js';
import { Resumption } from '../../../../src/rexd/resume/resumption.js';
import { SessionPlaces, Sessions } from '../../../../src/rexd/sessions.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

function makeFolder(): Disposable & { readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), 'rexd-resume-'));
  return { dir, [Symbol.dispose]: () => removeFolder(dir) };
}

test('a connection that has ended while it asked for a session does not take it along', async () => {
  using place = makeFolder();
  const facts = { clientName: 't', roots: Roots.open([place.dir]), limits: new LimitSet(REXD_LIMITS) };
  const places = new SessionPlaces(1);
  const here = new Sessions(places);
  const session = here.open({ ...facts, resumption: new Resumption(1000) });
  const gone = new Sessions(places);
  await gone.close();
  const params = { session_id: session.id, token: session.resumption?.token ?? '', event_seq: 0 };
  const ask = (sessions: Sessions) => resumeSession(params, { sessions, afterReply() {} } as never);
  expect(() => ask(gone)).toThrow('The connection is ending');
  expect(here.find(session.id)).toBe(session);
  const next = new Sessions(places);
  expect(ask(next)).toMatchObject({ session_id: session.id });
  await next.close();
});
