// Editing, as both seeds show it and as the tables of the specification have it.

import type { Clause } from './clause.js';

const seed = (text: string, source: string): Clause => ({
  text,
  source: `string-transport "${source}"`,
  transports: ['http', 'cli'],
});
const ours = (text: string): Clause => ({
  text,
  source: 'string "Editing commands"',
  transports: ['http'],
});

export const stringEdit = {
  'string/edit/feedback': seed(
    'an edit is answered by ✓ target — what was added and removed, the lines with their numbers, and mode=edit',
    'String → AI',
  ),
  'string/edit/lines': seed('/replace PATH:L5 puts the lines that follow in the place of line 5', 'Commands'),
  'string/edit/write': seed('/write makes a file of the lines that follow', 'Command-only'),
  'string/edit/conflict': ours(
    'a file that was not read in the topic, or has changed since, is overwritten by --force only',
  ),
  'string/edit/forms': ours(
    'every form of /write /append /edit /replace /verify says what it did, shows it, and does nothing else',
  ),
  'string/edit/codes': ours('what cannot be done is refused by the code of its row'),
  'string/edit/undo': ours('/undo goes back edit by edit, also after the daemon was started again'),
  'string/edit/confined': ours('nothing outside of what the agent may reach is written: FILE_NOT_ALLOWED'),
} as const satisfies Record<string, Clause>;
