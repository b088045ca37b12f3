// `rexd --http` and `rexd --unix`: opens the sockets, says where they are, and serves until a signal ends it.

import { once } from 'node:events';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Log } from '../base/log.js';
import { Access } from '../rexd/daemon/access.js';
import { passedSockets } from '../rexd/daemon/activation.js';
import { Daemon, type DaemonOptions } from '../rexd/daemon/daemon.js';
import { parseListenAddress } from '../guard/listen-address.js';
import type { RexdConfig } from '../rexd/settings.js';
import { EXIT } from './exit-codes.js';
import { type Flags, UsageError } from './flags.js';
import { makeServer, prepareServer, type Settings } from './rexd-start.js';

export async function serveSockets(flags: Flags, given: Settings): Promise<number> {
  const daemonSettings = {
    ...given.config.server,
    allow_remote: given.config.server.allow_remote || flags.has('allow-remote'),
  };
  const places = listPlaces(flags, given.config);
  // Before anything is started: whoever forgot the token is told so, and nothing else.
  const access = new Access(daemonSettings, process.env);
  if (places.http.length > 0) access.assertGuarded();
  let daemon: Daemon | undefined;
  // From now on: a signal that comes while sockets are opened must not end us with programs and sockets left behind.
  process.on('SIGHUP', () => daemon?.reload());
  const told = Promise.race(['SIGTERM', 'SIGINT'].map((signal) => once(process, signal).then(() => signal)));
  const { close, ...prepared } = await prepareServer(flags, given);
  const { log } = prepared;
  const server = await makeServer({ ...prepared, onCall: (report) => daemon?.onCall(report) });
  warnOfSecrets(given.config, access, log);
  try {
    daemon = await Daemon.open({ server, settings: daemonSettings, ...places, access, log });
  } catch (thrown) {
    await close();
    throw thrown;
  }
  for (const place of daemon.places) process.stderr.write(`rexd: listening on ${place}\n`);
  const signal = await told;
  await daemon.close();
  await close();
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.ok;
}

/** What is said on the command line counts for more than the configuration; what was passed, for more than either of its kind. */
function listPlaces(flags: Flags, { server }: RexdConfig): Pick<DaemonOptions, 'http' | 'unix'> {
  const passed = passedSockets(process.env);
  const listen = flags.value('http') ?? server.http_listen;
  const path = flags.value('unix') ?? server.unix_socket;
  // With one on the command line, the other of the configuration is not meant.
  const onlyUnix = flags.has('unix') && !flags.has('http');
  const onlyHttp = flags.has('http') && !flags.has('unix');
  const http =
    passed.tcp.length > 0
      ? passed.tcp.map((fd) => ({ fd }))
      : listen === undefined || onlyUnix
        ? []
        : [parseListenAddress(listen)];
  const unix =
    passed.unix.length > 0
      ? passed.unix.map((fd) => ({ fd }))
      : path === undefined || onlyHttp
        ? []
        : [{ path: resolve(path) }];
  if (http.length + unix.length === 0)
    throw new UsageError('nothing to serve: no socket was passed, and neither --http nor --unix was given');
  return { http, unix };
}

function warnOfSecrets({ file, server }: RexdConfig, access: Access, log: Log): void {
  if (access.isShort) log.warn('the token is short enough to be guessed; try: openssl rand -hex 32');
  if (server.token === undefined || file === undefined) return;
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o004) !== 0)
    log.warn('the token is in a file that everybody can read; use server.token_file, or chmod 600', { file });
}
