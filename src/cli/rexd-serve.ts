// What `rexd` does once its flags are known: it serves its clients.

import { errnoOf, LocalError } from '../base/errors.js';
import { openStandardStreams } from '../host/runtime/bun-stdio.js';
import { answerFirst, type FirstAnswer } from '../rexd/first-answer.js';
import type { MeetingPlace } from '../rexd/resume/meeting-place.js';
import { beginsPlainly, relayedLink } from '../rexd/resume/relayed-link.js';
import type { RexdServer } from '../rexd/server.js';
import { readFirstBytes } from '../wire/transport/early-stdio.js';
import type { Link } from '../wire/transport/link.js';
import { processLink } from '../wire/transport/stdio.js';
import { EXIT } from './exit-codes.js';
import { type Flags, UsageError } from './flags.js';
import { letGoOfStdio } from './let-go-of-stdio.js';
import { makeServer, prepareServer, readSettings, type Settings } from './rexd-start.js';
import { assertServable } from './standard-streams.js';

/** Serves as the flags and the configuration say: sockets when any is named, else standard input and output. */
export async function serve(flags: Flags): Promise<number> {
  const onSockets = flags.has('http') || flags.has('unix');
  if (onSockets && flags.has('stdio'))
    throw new UsageError('choose one: --stdio is for one client, --http and --unix are for many');
  const settings = await readSettings(flags);
  const { http_listen, unix_socket } = settings.config.server;
  const passed = arePassedSockets(process.env);
  if (
    onSockets ||
    (!flags.has('stdio') && (passed || http_listen !== undefined || unix_socket !== undefined))
  ) {
    const { serveSockets } = await import('./rexd-daemon.js');
    return await serveSockets(flags, settings);
  }
  if (flags.has('allow-remote')) throw new UsageError('--allow-remote goes with --http');
  return await serveStdio(flags, settings);
}

/** What the configuration comes to. */
export async function check(flags: Flags): Promise<string> {
  const { checkConfig } = await import('./rexd-check.js');
  return await checkConfig(flags);
}

/** Only those meant for us: the variables are inherited by whoever is started next. */
function arePassedSockets(env: NodeJS.ProcessEnv): boolean {
  return env['LISTEN_FDS'] !== undefined && env['LISTEN_PID'] === String(process.pid);
}

async function serveStdio(flags: Flags, settings: Settings): Promise<number> {
  const { config } = settings;
  if (!flags.has('stdio') && process.stdin.isTTY)
    throw new UsageError('nothing to serve: pass --stdio, --http or --unix');
  assertServable();
  if (!flags.has('stdio') && !config.server.stdio) {
    throw new UsageError(`nothing to serve: server.stdio is false in ${config.file}; pass --stdio`);
  }
  let place: MeetingPlace | undefined;
  const { close, ...prepared } = await prepareServer(flags, settings, async (session) => {
    const { MeetingPlace } = await import('../rexd/resume/meeting-place.js');
    place ??= new MeetingPlace({
      stateDir: settings.stateDir,
      onLink: (link) => void server?.serve(link),
    });
    await place.announce(session);
  });
  let server: RexdServer | undefined;
  const told: { signal?: NodeJS.Signals } = {};
  // Before the signals: until a client has said something there is nothing to put in order, and a signal may just end us.
  const first = readFirstBytes();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Hung up: what led to the client is gone, and whoever can be resumed waits for another connection.
      if (signal === 'SIGHUP' && server?.hasResumable === true) return server.disconnect();
      told.signal = signal;
      void server?.close();
    });
  }
  const answer = first === undefined ? undefined : answerFirst(first, prepared);
  const answered = answer === undefined ? undefined : sendFirst(answer);
  server = await makeServer(prepared);
  const serving = server.serve(answered ?? stdioLink(first, settings), answer?.opened);
  answered?.input.resume();
  if (told.signal !== undefined) void server.close();
  const lost = await serving;
  let failed = lost !== undefined && !isReaderGone(lost);
  prepared.log.debug('the connection is over');
  if (server.hasResumable) {
    failed = false;
    delete told.signal;
    letGoOfStdio();
    await server.quiet();
  }
  await place?.close();
  await close();
  if (failed) return EXIT.failed;
  return told.signal === 'SIGINT' ? EXIT.interrupted : EXIT.ok;
}

/** The answer is on its way before there is a server; what came behind the request waits for it. */
function sendFirst({ line, rest }: FirstAnswer): Link {
  const link = processLink(rest, openStandardStreams);
  link.input.pause();
  link.output.write(line);
  return link;
}

/** A plain link, but for a client that asks first for a session which may be another server's. */
function stdioLink(first: Buffer | undefined, { config, stateDir }: Settings): Link {
  const link = processLink(first, openStandardStreams);
  if (config.server.resume_window_ms === 0 || beginsPlainly(first)) return link;
  return relayedLink(link, async (id) => {
    const { findSession } = await import('../rexd/resume/find-session.js');
    return await findSession(stateDir, id);
  });
}

/** Who stops reading has ended the connection; a full disk has not. */
function isReaderGone(lost: Error): boolean {
  if (lost instanceof LocalError && lost.code === 'taken_over') return true;
  return ['EPIPE', 'ECONNRESET'].includes(errnoOf(lost.cause) ?? '');
}
