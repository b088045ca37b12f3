// Documents, as the transport shows them and as the tables of the specification have them.

import type { Clause } from './clause.js';

const ours = (text: string, section: string): Clause => ({
  text,
  source: `string "${section}"`,
  transports: ['http'],
});

export const stringDocuments = {
  'string/documents/blocks': {
    text: '/open PATH#block, and #block of the document that is open, show the block',
    source: 'string-transport "Commands", "AI → String"',
    transports: ['http', 'cli'],
  },
  'string/documents/shortcuts': {
    text: '/open @name goes where the page says that the name leads',
    source: 'string-transport "Multiple topics"',
    transports: ['http', 'cli'],
  },
  'string/documents/rendering': ours(
    'frontmatter, markers, directives, definitions and actions are not shown; links become [Label][@id]',
    'Rendering pipeline',
  ),
  'string/documents/hints': ours(
    'menus are unfolded once per topic, actions are named, missing variables are told with how to set them',
    'Rendering pipeline',
  ),
  'string/documents/meta': ours(
    'head.meta has the fields of the seed and the others beside them',
    'POST /exec',
  ),
  'string/documents/nav': ours(
    '/nav lists menus, entries and shortcuts, resolves them, and makes a scaffold',
    'Navigation',
  ),
  'string/documents/includes': ours(
    'blocks of other files are included; a circle or a failure is told in place',
    'Directives',
  ),
  'string/documents/history': ours('/back, /refresh and /history; a block is no step', 'Navigation'),
  'string/documents/info': ours(
    '/info has its rows in order, /info @id says what a shortcut stands for',
    'Navigation',
  ),
  'string/documents/errors': ours('what cannot be opened is refused by the code of its row', 'Navigation'),
  'string/documents/web': ours(
    'http(s) documents are fetched, HTML becomes Markdown, /source has the original',
    'Loading documents',
  ),
  'string/documents/distance': ours(
    'a page of the web reads no files and reaches nothing of this machine but its own origin',
    'Trust model',
  ),
  'string/documents/parts': ours(
    '--lines shows a part of a file; an image is shown by its facts; /search finds lines',
    'Candidate features',
  ),
  'string/documents/tabs': ours(
    '/open --tab NAME opens in a tab of its own, with the variables of the topic and without its history',
    'Candidate features',
  ),
  'string/documents/manifest': ours(
    'while a manifest is read, relative opens lead to its files',
    'Installing',
  ),
  'string/documents/apps': ours(
    '/open app:NAME shows the app in its own topic, wherever it is said',
    'Topics',
  ),
} as const satisfies Record<string, Clause>;
