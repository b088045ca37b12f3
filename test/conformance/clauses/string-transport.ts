// The clauses of the transport: ChanFlow text, by POST /chanflow and by the filter of the command line. Edits have clauses of their
// own; what needs actions is not among them yet.

import type { Clause } from './clause.js';

const both = (text: string, source: string): Clause => ({
  text,
  source: `string-transport "${source}"`,
  transports: ['http', 'cli'],
});
const ours = (text: string): Clause => ({
  text,
  source: 'string "ChanFlow text encoding"',
  transports: ['http', 'cli'],
});

export const stringTransport = {
  'string/transport/elements': both('channel, topic and payload are all a message needs', 'Core elements'),
  'string/transport/bare-name': both(
    'a bare name is a file topic: notes and file:notes are one session',
    'Topic',
  ),
  'string/transport/default-topic': both('without a topic it is file:main', 'Topic'),
  'string/transport/web-topic': both('web:docs and file:docs are two sessions', 'Topic'),
  'string/transport/first-line': both(
    'the command is the first line of the payload; what follows is its content, up to the closing tag',
    'Commands',
  ),
  'string/transport/one-command': both('a block has one command; another needs another block', 'Commands'),
  'string/transport/command-only': both(
    'plain text is refused by COMMAND_UNSUPPORTED, in the words of the seed',
    'Command-only',
  ),
  'string/transport/bash-text': both('a bash topic takes plain text as input of its shell', 'Command-only'),
  'string/transport/bash-command': both('// in a bash topic is a command of String', 'Command-only'),
  'string/transport/content': both('an answer is the content that was asked for', 'Responses'),
  'string/transport/feedback': both('what has changed something is confirmed by ✓', 'Responses'),
  'string/transport/errors': both('a failure is ✗ CODE: message, its context indented below', 'Responses'),
  'string/transport/format': both(
    'tags stand on lines of their own, with the payload between them',
    'Format',
  ),
  'string/transport/time': both('an answer may carry the time, as ISO 8601', 'Response attributes'),
  'string/transport/unknown-attributes': both(
    'attributes that nobody knows are ignored',
    'Response attributes',
  ),
  'string/transport/many-topics': both(
    'several topics in one turn are answered by a block each, in order',
    'Multiple topics',
  ),
  'string/transport/other-channels': both('what is for other channels is left alone', 'String as a channel'),
  'string/transport/first-contact': both('the first message to a topic makes its session', 'First contact'),
  'string/transport/persistence': both(
    'sessions live on from turn to turn, with their variables',
    'Persistence',
  ),
  'string/transport/close': both(
    '/close ends a session: its state is gone, and it can be opened afresh',
    'Close',
  ),
  'string/transport/unterminated': ours(
    'a block that is not closed is answered by an error, and not executed',
  ),
  'string/transport/within-a-line': ours('a block that does not begin its line is not executed, and told of'),
  'string/transport/spoofing': ours('no answer can close its block or open another one'),
  'string/transport/one-line': ours('tag, command and closing tag may stand on one line'),
} as const satisfies Readonly<Record<string, Clause>>;
