// Actions, tools and packages, as the tables of the specification have them.

import type { Clause } from './clause.js';

const ours = (text: string, source: string): Clause => ({
  text,
  source: `string "${source}"`,
  transports: ['http'],
});

export const stringActions = {
  'string/act/list': ours(
    '/act lists the actions of a page, /act.x --help one, and neither says what they do',
    'Action definition',
  ),
  'string/act/fields': ours(
    'positions, options, files, defaults and what is missing or wrong are told as the order of processing has it',
    'Invocation',
  ),
  'string/act/quoting': ours(
    'nothing that a caller passes is run or expanded, and it arrives to the byte',
    'Quoting corpus',
  ),
  'string/act/response': ours(
    'answers go through templates: assignments, loops, tuples; a failed command stays one',
    'Response templates',
  ),
  'string/act/http': ours(
    'a request has its values encoded for where they stand, and failures have their codes',
    'Invocation',
  ),
  'string/act/secrets': ours('$NAME of an app is sent and never shown', 'Variables'),
  'string/act/trust': ours(
    'a page from the web runs HTTP actions to its own origin only, and nothing by itself',
    'Trust model',
  ),
  'string/install/life': ours(
    '/install, /open app:, configs, /uninstall; what it could do is told first',
    'Apps, tools, packages',
  ),
  'string/tool/run': ours(
    '/tool:NAME runs its default action, /tool:NAME.ACT another, in the topic of the caller',
    'Apps versus tools',
  ),
} satisfies Record<string, Clause>;
