// What can be said to `stdio-bus`: the flags of the bus itself, and those of its two commands.

import { LOG_LEVELS } from '../../base/log.js';
import type { Usage } from '../flags.js';

const COMMON = {
  version: { short: 'V', summary: 'print the version' },
  help: { short: 'h', summary: 'print this text' },
} as const;

const EXIT_CODES =
  'Exit codes: 0 ended as it should (also after SIGTERM or SIGINT), 1 failed, 2 wrong usage or configuration,\n  130 and 143 a second SIGINT or SIGTERM did not wait for the drain.';

export const BUS_USAGE: Usage = {
  program: 'stdio-bus',
  summary: 'route messages between many clients and pools of workers, not one byte changed',
  synopsis: [
    'stdio-bus --config FILE [--stdio | --unix PATH | --tcp HOST:PORT]',
    'stdio-bus stats (--unix PATH | --tcp HOST:PORT) [--json]',
    'stdio-bus restart (--unix PATH | --tcp HOST:PORT) [--pool ID]',
  ].join('\n  '),
  flags: {
    config: { value: 'FILE', summary: 'read this configuration (JSON)' },
    'config-fd': { value: 'N', summary: 'read it from this descriptor, to its end' },
    stdio: { summary: 'serve one client on standard input and output (the default)' },
    unix: { value: 'PATH', summary: 'serve many clients of this user on a unix socket' },
    tcp: { value: 'HOST:PORT', summary: 'serve many clients over TCP; without a host, on loopback' },
    'allow-remote': {
      summary: 'with --tcp or --metrics: also where other machines can connect; needs a token or TLS',
    },
    check: { summary: 'check the configuration, say what it comes to, and exit' },
    json: { summary: 'with --check: as JSON' },
    metrics: { value: 'HOST:PORT', summary: 'serve numbers for Prometheus at /metrics' },
    'log-level': { value: 'LEVEL', summary: `${LOG_LEVELS.join(', ')}; overrides the configuration` },
    'log-format': { value: 'FORMAT', summary: 'text or json; overrides the configuration' },
    trace: {
      value: 'FILE',
      optional: true,
      summary: 'one line for every message (never what it says), on stderr or appended to a file',
    },
    ...COMMON,
  },
  examples: [
    ['stdio-bus --config bus.json --unix /run/user/1000/bus.sock', 'serve a pool of workers to many clients'],
    ['stdio-bus --config bus.json --check', 'see what a configuration comes to before using it'],
    ['stdio-bus stats --unix /run/user/1000/bus.sock', 'how it is doing'],
    ['stdio-bus restart --unix /run/user/1000/bus.sock --pool tools', 'replace workers, one after the other'],
  ],
  notes: [
    [
      'Signals:',
      '  SIGTERM, SIGINT  finish what is under way, then end; once more: at once',
      '  SIGHUP           read the configuration again; clients stay connected',
    ].join('\n'),
    [
      'Environment:',
      '  STDIO_BUS_TOKEN  what clients over TCP have to send first: {"jsonrpc":"2.0","id":1,"method":"bus/auth","params":{"token":"…"}}',
    ].join('\n'),
    EXIT_CODES,
  ],
};

const WHERE = {
  unix: { value: 'PATH', summary: 'the unix socket of the bus' },
  tcp: { value: 'HOST:PORT', summary: 'its TCP address; the token is taken from STDIO_BUS_TOKEN' },
  framing: { value: 'KIND', summary: 'ndjson (the default) or length, as in its configuration' },
  'tls-ca': { value: 'FILE', summary: 'with --tcp: speak TLS, and believe this authority' },
  'tls-cert': { value: 'FILE', summary: 'our certificate, where the bus asks for one' },
  'tls-key': { value: 'FILE', summary: 'its key' },
  json: { summary: 'print JSON' },
} as const;

export const STATS_USAGE: Usage = {
  program: 'stdio-bus stats',
  summary: 'how a running bus is doing',
  synopsis: 'stdio-bus stats (--unix PATH | --tcp HOST:PORT) [--json]',
  flags: { ...WHERE, ...COMMON },
  examples: [['stdio-bus stats --unix /run/user/1000/bus.sock --json', 'for a program']],
};

export const RESTART_USAGE: Usage = {
  program: 'stdio-bus restart',
  summary: 'replace the workers of a running bus one after the other, while it goes on serving',
  synopsis: 'stdio-bus restart (--unix PATH | --tcp HOST:PORT) [--pool ID]',
  flags: { ...WHERE, pool: { value: 'ID', summary: 'of this pool only' }, ...COMMON },
  examples: [['stdio-bus restart --unix /run/user/1000/bus.sock', 'every worker of every pool']],
};
