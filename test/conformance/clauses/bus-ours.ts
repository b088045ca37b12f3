// What our bus does beside the seed: the sentences of its own contract.

import type { Clause } from './clause.js';

const ours = (text: string, section: string, more: Partial<Clause> = {}): Clause => ({
  text,
  source: `bus-contract "${section}"`,
  ...more,
});

export const busOurs = {
  'bus/ours/peer-config': ours('the C peer’s configuration works unchanged', 'executable'),
  'bus/ours/config-fd': ours('--config-fd reads the configuration from a descriptor', 'executable'),
  'bus/ours/config-errors': ours('a wrong configuration names the key, exit 2', 'executable'),
  'bus/ours/usage-errors': ours('a wrong command line is told with exit 2', 'executable'),
  'bus/ours/bind-fails': ours('an address that cannot be had: exit 1, and no worker is left', 'executable'),
  'bus/ours/transports': ours(
    'transport modes that are not there are refused with what to use instead',
    'executable',
  ),
  'bus/ours/clean-stdout': ours('nothing but protocol on stdout', 'executable', { transports: ['stdio'] }),
  'bus/ours/tcp-guard': ours('TCP off loopback needs --allow-remote and a token or mTLS', 'executable'),
  'bus/ours/tcp-token': ours('with a token the first line must be bus/auth', 'executable', {
    transports: ['tcp'],
  }),
  'bus/ours/cancel': ours('cancellation follows its request', 'routing'),
  'bus/ours/least-loaded': ours('without a session the least loaded worker is chosen', 'routing'),
  'bus/ours/key': ours('a pool is also found by its keys and by the methods it declares', 'routing'),
  'bus/ours/lift': ours('a pool may lift params.sessionId and result.sessionId', 'session ids inside'),
  'bus/ours/strip': ours(
    'a pool may strip the top-level sessionId and restore it on answers',
    'session ids inside',
  ),
  'bus/ours/length': ours('length framing: four bytes big-endian, then the body', 'framing'),
  'bus/ours/length-too-large': ours('a frame over the limit: -32600, then closed', 'framing'),
  'bus/ours/blank-lines': ours('blank lines are passed over', 'routing'),
  'bus/ours/reload': ours('SIGHUP reads the configuration again and drops no client', 'workers'),
  'bus/ours/reload-wrong': ours('a reload of a wrong configuration changes nothing and is told', 'workers'),
  'bus/ours/rolling': ours('a rolling restart loses no request', 'workers'),
  'bus/ours/no-orphan': ours('kill -9 of the bus leaves no worker and nothing of its tree', 'workers'),
  'bus/ours/ping': ours('a worker that does not answer its ping is replaced', 'workers'),
  'bus/ours/stats-command': ours('stdio-bus stats prints them, --json as JSON', 'stats'),
  'bus/ours/trace': ours('--trace shows single messages with their content redacted', 'stats'),
  'bus/ours/readiness': ours('a line on stderr tells where it listens', 'executable'),
  'bus/ours/pass-on': ours('every method but bus/* is passed on, also rpc.* and $/…', 'routing'),
  'bus/ours/idle-clients': ours('idle clients cost little', 'limits'),
  'bus/ours/memory': ours('what a client sends without an end never fills the memory', 'limits'),
} as const satisfies Readonly<Record<string, Clause>>;
