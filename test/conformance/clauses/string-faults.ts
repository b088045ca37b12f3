// Faults that were seen in another implementation of the same protocol, each as a promise that it is not ours.

import type { Clause } from './clause.js';

const fault = (text: string, source: string): Clause => ({
  text,
  source: `string "Weaknesses" ${source}`,
  transports: ['http'],
});

export const stringFaults = {
  'string/fault/late-output': fault(
    'a command of a shell that goes on is no success, keeps others out, and its output is in no other answer',
    'B4',
  ),
  'string/fault/quote': fault(
    'open quotes, here documents and `cat` hang nothing, and the next command is itself',
    'B5',
  ),
  'string/fault/exit': fault(
    'the end of a shell is told with its status; the next command has a new one',
    'B6',
  ),
  'string/fault/last-session': fault('the last topic of an agent can be closed, and is gone then', 'B7'),
  'string/fault/app-config': fault('/info in app:NAME:CONFIG is about the package NAME', 'B10'),
  'string/fault/arguments': fault(
    'empty and negative arguments are arguments; a lone apostrophe is told; lines are not glued together',
    'B12',
  ),
  'string/fault/paths': fault(
    'names with blanks and umlauts, ~/, and a neighbour whose name begins like home',
    'B14',
  ),
  'string/fault/env-store': fault(
    'values of an app that another hand has written are seen, and writes at the same time are all kept',
    'B18',
  ),
  'string/fault/codes': fault('every failure has a code of its own', 'B20'),
  'string/fault/shell-words': fault(
    'words like /topics are for the shell in a bash topic; a prompt takes bodies of several lines',
    'B23',
  ),
  'string/fault/new-home': fault('a command that runs while its agent gets another home goes on', 'B27'),
  'string/fault/injection': fault('what an event says is never run, whoever reads it', 'security 1'),
  'string/fault/secrets': fault('nothing of the daemon’s own environment reaches a command', 'security 6'),
  'string/fault/spoofing': fault('no text closes the envelope it is in, or opens another', 'security 7'),
  'string/fault/confinement': fault('no link leads out of the home of an agent', 'security 8'),
  'string/fault/output': fault(
    'what a command prints is bounded in its answer, with exact counts',
    'security 11',
  ),
  'string/fault/token-log': fault('the log never has the token of a webhook', 'security 11'),
} as const satisfies Readonly<Record<string, Clause>>;
