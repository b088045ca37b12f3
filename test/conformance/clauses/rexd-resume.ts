// The clauses of resumable sessions and of commands that run at most once.

import type { Clause } from './clause.js';

const source = 'rexd-v1 "Phase 3: resumable sessions"';

export const rexdResume = {
  'rexd/resume/numbered': {
    text: 'session.open with resumable gives a token and a window, and the events of the session count event_seq from 1 over all of its processes; other sessions have none',
    source,
  },
  'rexd/resume/elsewhere': {
    text: 'after a lost connection session.resume, as the first request to another server of the user, brings every event after event_seq and then those to come',
    source,
  },
  'rexd/resume/refused': {
    text: 'a wrong token, a session that is not there and one that is not resumable get the same answer',
    source,
  },
  'rexd/resume/takeover': {
    text: 'a session is resumed also while its old connection looks alive; that one is closed',
    source,
  },
  'rexd/resume/once': {
    text: 'a request that is sent again under its id after a resume is answered again and carried out once',
    source,
  },
  'rexd/resume/poll': {
    text: 'session.events gives the events after a number, waits for the next one, and refuses numbers that are gone or yet to come',
    source,
  },
  'rexd/resume/window': {
    text: 'when nobody resumes in time the server ends, with all that the session started, except what was detached',
    source,
  },
  'rexd/resume/off': {
    text: 'a server that must not wait refuses resumable with -32007',
    source,
  },
  'rexd/resume/secret': {
    text: 'the token of a session is neither in the audit log nor in the log',
    source: 'rexd-v1 "Audit log": redacted where needed',
  },
  'rexd/resume/request-id': {
    text: 'exec.start with a request_id that was used runs nothing and names the process of the first; with other params it is refused; what could not be started may be asked for again',
    source,
  },
  'rexd/resume/request-id-detached': {
    text: 'a detached process is found again by its request_id, also by a later server, and started once when two ask at the same time',
    source,
  },
  'rexd/resume/follow': {
    text: 'exec.read with wait_ms waits for output that is not there yet and for the end, also of a detached process of an earlier server',
    source,
  },
} as const satisfies Record<string, Clause>;
