// docs/bus-config.md: every key of the bus's configuration, its type and default from the schema, its meaning from here.

import { BusConfigSchema } from '../src/bus/config/schema.js';
import { renderTables, type Setting, settingsOf } from './schema-settings.js';

const MEANINGS: Readonly<Record<string, string>> = {
  'pools[].id': 'The name by which messages (`pool`), routes and statistics call it. Each pool has its own.',
  'pools[].command':
    'The program, looked for in `PATH`; no shell. When it is not there at the start, the bus ends with 1.',
  'pools[].args': 'Its arguments.',
  'pools[].instances': 'How many workers.',
  'pools[].name': 'A name for people, in statistics.',
  'pools[].env':
    'Variables set beside those of the bus; `null` takes one away. `STDIO_BUS_TOKEN` is never passed on.',
  'pools[].cwd': 'Where the workers run; by default where the bus does.',
  'pools[].methods':
    'Methods that come here when neither a session nor `pool` says otherwise; `tools/*` is all that begin so.',
  'pools[].keys': 'Other names by which the `pool` of a message may call it.',
  'pools[].session.lift':
    '`params.sessionId` and `result.sessionId` name sessions as the top-level `sessionId` does (ACP and MCP style). Off: the top level alone counts.',
  'pools[].session.strip':
    'The top-level `sessionId` is taken out before a worker sees it, and put back on what it answers: for SDKs that refuse unknown keys.',
  'pools[].ping.method': 'A request that the bus sends now and then; any answer will do, an error too.',
  'pools[].ping.interval_ms': 'How often.',
  'pools[].ping.timeout_ms': 'A worker that has not answered by then is ended and started again.',
  'pools[].ready.method':
    'A worker gets work when it has answered this request. Without `ready`: as soon as it runs.',
  'pools[].ready.params': 'The params of that request.',
  'pools[].ready.stderr': 'Instead of `method`: a worker gets work when it has printed this text on stderr.',
  'pools[].ready.timeout_ms': 'A worker that is not ready by then is ended and started again.',
  'limits.max_input_buffer':
    'Longest line or frame, in bytes. A client that sends a longer one is told so and closed.',
  'limits.max_output_queue': 'Bytes that may wait for one client that does not read.',
  'limits.max_restarts':
    'Restarts of one worker within the window; then it is given up. 0: never started again.',
  'limits.restart_window_sec':
    'The window. The delay before a restart is 0.1 s, doubled with every one in the window, 30 s at most.',
  'limits.drain_timeout_sec':
    'How long requests under way may take when the bus, a pool or a worker is to end.',
  'limits.backpressure_timeout_sec': 'A client whose queue is full for so long is closed.',
  'limits.max_worker_queue':
    'Bytes that may wait for one worker; past it, the clients that feed it are not read.',
  'limits.max_pending':
    'Requests under way, of all clients together; one more is answered -32003. Those of clients that have left do not count until they are as many again. So many questions of workers may wait for answers of clients, too.',
  'limits.max_sessions': 'Sessions; one more is answered -32003.',
  'limits.max_clients': 'Clients, through all doors together; one more is told -32003 and closed.',
  'limits.max_waiting': 'Bytes of requests that may wait for a pool in which no worker is ready.',
  'limits.wait_timeout_ms': 'How long they may wait; then they are answered -32000.',
  'limits.max_rubbish_lines':
    'Lines of one worker that are no messages; past it, the worker is ended and started again.',
  'transport.mode': 'What is served when no flag says so.',
  'transport.framing':
    '`length`: each message of a client is 4 bytes of length, big-endian, and its bytes. Workers always get lines.',
  'transport.protocol': 'JSON-RPC; there is no other.',
  'transport.options.path': 'Of the unix socket, for mode `unix` without `--unix`.',
  'transport.options.listen': '`HOST:PORT`, for mode `tcp` without `--tcp`.',
  'transport.options.shm_name': 'Accepted for files written for other implementations; of no account.',
  'transport.options.shm_size': 'The same.',
  'transport.options.mqueue_name': 'The same.',
  'transport.options.mqueue_depth': 'The same.',
  'transport.options.mqueue_msgsize': 'The same.',
  defaultPool: 'Where messages go that nothing else sends anywhere. With a single pool it is that one.',
  'routes[].method': 'A method, or `tools/*`: all that begin so. The first that fits counts.',
  'routes[].pool': 'Where it goes.',
  idCollision:
    'What happens to a request whose id is under way at its worker for another client: `hold` waits for its turn, `rewrite` changes the id on the way there and back. Where the other client has left and the worker has not answered, `hold` does the same after a second.',
  sessionOwnership: '`strict`: a session belongs to the client that opened it. `shared`: others may use it.',
  notifyLoss: 'Tell the owner of a session by `bus/session_lost` when its worker has ended.',
  sessionTtlSec: 'A session that nobody has used for so long is forgotten.',
  lenient: 'Let messages pass that have nothing to be routed by, instead of closing their client.',
  'security.tokenFile':
    'A file with the token that clients over TCP send first, not readable by everybody. `STDIO_BUS_TOKEN` counts for more.',
  'security.tls.cert': 'Certificate in PEM, with its chain: nothing but TLS is spoken over TCP then.',
  'security.tls.key': 'Its key in PEM, not readable by everybody.',
  'security.tls.ca': 'Certificates in PEM of who may sign those of clients: then every client needs one.',
  'log.level': 'What goes to the log on stderr. `--log-level` counts for more.',
  'log.format': '`--log-format` counts for more.',
};

export function listBusSettings(): Setting[] {
  return settingsOf(BusConfigSchema);
}

export function meaningOfBusKey(key: string): string | undefined {
  return MEANINGS[key];
}

export function renderBusConfigPage(): string {
  const settings = listBusSettings();
  return [
    '# Configuration of stdio-bus',
    'Written by `npm run docs` from the schema in `src/bus/config/schema.ts`; do not edit.',
    'One JSON object, named by `--config FILE` or passed by `--config-fd N`. A file written for the C implementation works as it is. The least there can be:',
    ['```json', '{ "pools": [{ "id": "echo", "command": "node", "args": ["echo.mjs"] }] }', '```'].join('\n'),
    'An unknown key is an error that names its place and the key that was probably meant, and ends the bus with 2; `stdio-bus --check --config FILE` says what a configuration comes to. On SIGHUP it is read again: pools are started, replaced worker by worker, or ended as it differs, and clients stay connected. One that is wrong is refused, and the old one holds. `transport` takes effect at the next start, restart limits when a worker ends the next time; one that was given up stays so until its pool is changed or restarted (`stdio-bus restart`).',
    ...renderTables(settings, {
      meanings: MEANINGS,
      tableOf,
      heading: (table) => (table === '' ? '## Top level' : `## \`${table}\``),
    }),
  ]
    .join('\n\n')
    .concat('\n');
}

function tableOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('.')));
}
