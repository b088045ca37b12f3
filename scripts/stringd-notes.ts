// What the page of stringd says beside the table of its routes.

import {
  MAX_WEBHOOK_EVENTS_PER_SECOND,
  REDELIVER_GRACE_MS,
  SWEEP_INTERVAL_MS,
} from '../src/string/config.js';
import { DEFAULT_PORT } from '../src/wire/stringd-defaults.js';
import { MAX_BODY_BYTES, MAX_QUEUE_SIZE, QUEUE_WAIT_TIMEOUT_MS } from '../src/string/protocol.js';

export const STRINGD_NOTES: readonly string[] = [
  [
    `HTTP/1.1 on \`127.0.0.1:${DEFAULT_PORT}\`, JSON bodies of at most ${MAX_BODY_BYTES} bytes (more: 413), errors as \`{"error": "words"}\` with an HTTP status, some with a`,
    '`message` beside a code. A path that is none, or has not this method, is `404 {"error": "Not found: METHOD /path"}`. A body whose Content-Type says that it is no JSON is',
    'refused with 415.',
  ].join(' '),
  [
    'A request of a web page is refused with 403 on every route, also `OPTIONS`: by a `Host` or an `Origin` that is not loopback, or by `Sec-Fetch-Site: cross-site`. The permissive',
    'headers are there all the same. `stringd --cors permissive` lets everybody in, and says in the log what that means.',
  ].join(' '),
  '`X-Agent-Id` says whose request it is; it proves nothing. Ids have 1 to 64 letters, digits, `_`, `.` and `-`.',
  '### The events of /exec',
  [
    '`head`, `content`, `done`, in this order, each with JSON as its data. `head` tells how it went; `content` is a string whose first line is `re: [request_id] /cmd` (the command cut to 80',
    'characters, the id only when there was one), and the rest what the command said, or `ERROR(CODE): message`. An answer without `done` is not whole. A command that takes longer than 15 s has its answer begun',
    'then, and a comment every 15 s. A client that leaves while its command waits takes the command with it; one that runs goes on to its end.',
  ].join(' '),
  `One command at a time in a topic; ${MAX_QUEUE_SIZE} may wait, for at most ${QUEUE_WAIT_TIMEOUT_MS / 1000} s each. \`/mcp\` does not wait: a busy topic answers \`ERROR(BUSY)\`. A command that opens another topic (\`/open app:x\`, \`/open bash:x\`, \`/open event\`) waits for the turn of that one.`,
  '### Events',
  [
    'An event is on the disk before its `202`. Its states are `pending`, `delivered` (written to a stream once) and `ack`. A stream begins with what is not acknowledged: all that is pending, and what',
    'was delivered within `STRING_EVENT_REDELIVER_GRACE_MS`; with `Last-Event-ID`, all that came after that event. `?replay=0` leaves this out. Acknowledged events are kept for',
    '`STRING_EVENT_RETENTION_DAYS`, all others for a year.',
  ].join(' '),
  '### MCP',
  [
    '`POST /mcp` takes one message of JSON-RPC, of a client of 2025-11-25 or before, or of 2026-07-28. The first kind needs no headers of its own; the second names its revision, the method and the',
    'tool in headers, and the revision, itself and what it can do in `_meta`:',
  ].join(' '),
  [
    '```sh',
    `curl -s http://127.0.0.1:${DEFAULT_PORT}/mcp -H 'X-Agent-Id: me' -H 'Content-Type: application/json' \\`,
    `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"string","arguments":{"topic":"main","cmd":"/help"}}}'`,
    `curl -s http://127.0.0.1:${DEFAULT_PORT}/mcp -H 'X-Agent-Id: me' -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\`,
    `  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: string' \\`,
    `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"string","arguments":{"topic":"main","cmd":"/help"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"me","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}'`,
    '```',
  ].join('\n'),
  '### ChanFlow',
  [
    'A block begins at the beginning of a line with `<𝒞=string:TOPIC>` (U+1D49E; without a topic: `main`) and ends with `</𝒞>`, at the beginning of a line or on the line it began on. Its first line is',
    'the command, the others are the body of that. In its place the answer has a block with the time in its tag; failures read `✗ CODE: message`. Text around blocks and blocks of other channels come back as they were. A block that begins within a line, or has no end, is not executed, and its place says so.',
  ].join(' '),
  [
    '```sh',
    `printf '<𝒞=string:main>/topics</𝒞>\\n<𝒞=string:bash:dev>\\necho hello\\n</𝒞>\\n' |`,
    `  curl -s http://127.0.0.1:${DEFAULT_PORT}/chanflow -H 'X-Agent-Id: me' -H 'Content-Type: text/plain' --data-binary @-`,
    '```',
  ].join('\n'),
];

export const STRINGD_ENVIRONMENT: readonly (readonly string[])[] = [
  [
    '`STRING_PORT`',
    `\`${DEFAULT_PORT}\``,
    'the port; what is not a whole number from 1 to 65535 is an error',
  ],
  ['`STRING_ROOT`', '`~/.string`', 'where everything is kept'],
  ['`STRING_DATA_DIR`', '`STRING_ROOT/daemon`', '`agents.json`, `events.db`, `logs/`'],
  ['`STRING_LOG`', 'off', '`1`: JSON lines in `STRING_DATA_DIR/logs/stringd.log`'],
  [
    '`STRING_ACCESS`',
    '`home`',
    '`full`: agents reach every file that the daemon can, not only their homes and allowed paths; `/info` says so',
  ],
  ['`STRING_TOPICS`', '`lenient`', '`strict`: no `file:NAME` and no `web:NAME`'],
  [
    '`STRING_NO_AGENT_RECOVERY`',
    'off',
    '`1`: homes in `STRING_ROOT/agents` without a record are not adopted at the start',
  ],
  [
    '`STRING_EVENT_REDELIVER_GRACE_MS`',
    `\`${REDELIVER_GRACE_MS}\``,
    'how long a delivered event is sent again on connect',
  ],
  ['`STRING_EVENT_RETENTION_DAYS`', '`7`', 'how long acknowledged events are kept'],
  [
    '`STRING_EVENT_SWEEP_INTERVAL_MS`',
    `\`${SWEEP_INTERVAL_MS}\``,
    'how often those past their time are removed',
  ],
  [
    '`STRING_WEBHOOK_RATE`',
    `\`${MAX_WEBHOOK_EVENTS_PER_SECOND}\``,
    'events a webhook takes in a second; twice as many at once',
  ],
];
