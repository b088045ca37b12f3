// What pages may do, by whose word they are: the table of the trust model, on a network that is played.

import type { Clause } from './clause.js';

const ours = (text: string): Clause => ({ text, source: 'string "Trust model"', transports: ['http'] });

export const stringPolicy = {
  'string/policy/rebinding': ours(
    'a page of a public name is not led into this machine by DNS, neither by its actions nor by its links',
  ),
  'string/policy/redirect': ours(
    'a redirect from the public web into this machine is not followed, whoever asks',
  ),
  'string/policy/public': ours(
    'a page of the public web reaches its own origin, and nothing is run by itself',
  ),
  'string/policy/file': ours(
    'policy.json of an agent takes capabilities away, and gives none that strangers never have',
  ),
  'string/policy/log': ours('every decision is a line of policy.jsonl, which nobody else can read'),
} as const satisfies Readonly<Record<string, Clause>>;
