// What `rex target add` writes for an address: a host for ssh, the address of a daemon, or the path of its socket.

import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { LocalError } from '../../../base/errors.js';
import { parseDestination } from '../../../client/rex/destination.js';
import { addressOf } from '../../../client/rex/online.js';
import type { Target } from '../../../client/rex/target.js';
import { UsageError } from '../../flags.js';

export interface WayOptions {
  readonly transport?: string;
  readonly identity?: string;
  readonly port?: number;
  readonly command?: string;
  readonly sshOption: readonly string[];
  readonly tokenFile?: string;
  readonly tokenEnv?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

type Way = Target['transport'];
type Entry = Readonly<Record<string, unknown>>;

/** By the flags of the command line, which belong to some ways only. */
const FLAGS: Readonly<
  Record<string, { readonly ways: readonly Way[]; readonly given: (o: WayOptions) => boolean }>
> = {
  '--identity': { ways: ['ssh'], given: ({ identity }) => identity !== undefined },
  '--port': { ways: ['ssh'], given: ({ port }) => port !== undefined },
  '--command': { ways: ['ssh'], given: ({ command }) => command !== undefined },
  '--ssh-option': { ways: ['ssh'], given: ({ sshOption }) => sshOption.length > 0 },
  '--token-file': { ways: ['http', 'ws'], given: ({ tokenFile }) => tokenFile !== undefined },
  '--token-env': { ways: ['http', 'ws'], given: ({ tokenEnv }) => tokenEnv !== undefined },
  '--ca': { ways: ['http', 'ws'], given: ({ ca }) => ca !== undefined },
  '--cert': { ways: ['http', 'ws'], given: ({ cert }) => cert !== undefined },
  '--key': { ways: ['http', 'ws'], given: ({ key }) => key !== undefined },
};

/** Fields that lead somewhere: they do not stay when a target is reached in another way. */
const LEADS: Readonly<Record<Way, readonly string[]>> = {
  ssh: ['host', 'user', 'port', 'identityFile', 'sshOptions', 'command', 'compression'],
  http: ['url', 'tokenFile', 'tokenEnv', 'caFile', 'certFile', 'keyFile'],
  ws: ['url', 'tokenFile', 'tokenEnv', 'caFile', 'certFile', 'keyFile'],
  unix: ['socket'],
};

/** Throws a UsageError, or what the address itself is refused with. */
export function entryOfWay(address: string, options: WayOptions): Entry & { readonly transport: Way } {
  const transport = wayOf(address, options.transport);
  for (const [flag, { ways, given }] of Object.entries(FLAGS))
    if (given(options) && !ways.includes(transport))
      throw new UsageError(
        `${flag} is for ${ways.join(' and ')}, and this target is reached by ${transport}`,
      );
  if (transport === 'ssh') return { transport, ...parseDestination(address), ...sshFields(options) };
  if (transport === 'unix') return { transport, socket: ownPath(address.replace(/^unix:/, '')) };
  return { transport, url: address, ...onlineFields(address, options) };
}

/** Of an entry that is changed, what stays beside the new one. */
export function keepBeside(before: Entry, after: Entry & { readonly transport: Way }): Entry {
  const old = wayNamed(before['transport']) ?? 'ssh';
  const gone = new Set([
    ...LEADS[old].filter((field) => !LEADS[after.transport].includes(field)),
    // There is one token: a new place for it is the only one.
    ...('tokenFile' in after || 'tokenEnv' in after ? ['tokenFile', 'tokenEnv'] : []),
  ]);
  return Object.fromEntries(Object.entries(before).filter(([field]) => !gone.has(field)));
}

const WAYS: readonly Way[] = ['ssh', 'http', 'ws', 'unix'];

function wayNamed(name: unknown): Way | undefined {
  return WAYS.find((way) => way === name);
}

/** The address tells it, unless it is told. */
function wayOf(address: string, named: string | undefined): Way {
  if (named !== undefined) {
    const way = wayNamed(named);
    if (way === undefined) throw new UsageError(`--transport ${named}: there are ${WAYS.join(', ')}`);
    return way;
  }
  if (/^https?:/i.test(address)) return 'http';
  if (/^wss?:/i.test(address)) return 'ws';
  return /^(?:unix:|\/|~\/|\.{1,2}\/)/.test(address) ? 'unix' : 'ssh';
}

function sshFields({ port, identity, command, sshOption }: WayOptions): Entry {
  return {
    ...(port !== undefined && { port }),
    ...(identity !== undefined && { identityFile: ownPath(identity) }),
    ...(command !== undefined && { command }),
    ...(sshOption.length > 0 && { sshOptions: sshOption }),
  };
}

function onlineFields(url: string, options: WayOptions): Entry {
  const { tokenFile, tokenEnv, ca, cert, key } = options;
  if (tokenFile !== undefined && tokenEnv !== undefined)
    throw new UsageError('the token is in one place: --token-file or --token-env');
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('a certificate and its key belong together: --cert and --key');
  assertAddress(url, tokenFile !== undefined || tokenEnv !== undefined);
  return {
    ...(tokenFile !== undefined && { tokenFile: ownPath(tokenFile) }),
    ...(tokenEnv !== undefined && { tokenEnv }),
    ...(ca !== undefined && { caFile: ownPath(ca) }),
    ...(cert !== undefined && { certFile: ownPath(cert) }),
    ...(key !== undefined && { keyFile: ownPath(key) }),
  };
}

/** What stands in an address stands in the list of targets, and is shown: no token may come to be there. */
function assertAddress(url: string, withToken: boolean): void {
  try {
    const { search, hash } = addressOf({ url, token: withToken ? '' : undefined }, 'http');
    if (search === '' && hash === '') return;
  } catch (thrown) {
    throw thrown instanceof LocalError ? new UsageError(thrown.message) : thrown;
  }
  throw new UsageError(
    'an address has no place for secrets, nor for "?" and "#"; use --token-file or --token-env',
  );
}

function ownPath(path: string): string {
  return resolve(path === '~' || path.startsWith('~/') ? `${homedir()}${path.slice(1)}` : path);
}
