// rex target test of a daemon: what is here to reach it with, whether it answers, by TLS or without, and lets us in.

import { LocalError } from '../../../base/errors.js';
import { ConnectError } from '../../../client/rex/explain-failure.js';
import { credentialsOf } from '../../../client/rex/online.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import { type OnlineTarget, type SshTarget, type Target, whereIs } from '../../../client/rex/target.js';

export interface Step {
  readonly step: string;
  /** Undefined: worth knowing, and no failure. */
  readonly ok: boolean | undefined;
  readonly says: string;
  readonly advice?: string;
}

export type Tell = (step: Step) => Promise<void>;
type DaemonTarget = Exclude<Target, SshTarget>;

/** The files and variables of the target. False: it cannot even be tried. */
export async function tellMeans(target: DaemonTarget, tell: Tell): Promise<boolean> {
  if (target.transport === 'unix') return true;
  try {
    credentialsOf(target, process.env);
  } catch (thrown) {
    if (!(thrown instanceof LocalError)) throw thrown;
    await tell({ step: 'credentials', ok: false, says: thrown.message });
    return false;
  }
  const { tokenFile, tokenEnv, certFile } = target;
  const means = [
    ...(tokenFile === undefined ? [] : [`the token from ${tokenFile}`]),
    ...(tokenFile === undefined && tokenEnv !== undefined ? [`the token from $${tokenEnv}`] : []),
    ...(certFile === undefined ? [] : [`the certificate ${certFile}`]),
  ];
  // Without any it may work: a proxy on the way can add them.
  await tell({
    step: 'credentials',
    ok: means.length === 0 ? undefined : true,
    says: means.length === 0 ? 'none are given, neither a token nor a certificate' : means.join(' and '),
  });
  return true;
}

/** What has worked when a session is open. */
export async function tellWay(target: DaemonTarget, tell: Tell): Promise<void> {
  for (const { name, works } of stepsOf(target)) await tell({ step: name, ok: true, says: works(target) });
}

export async function tellNoDaemon(
  { alias, target }: TargetChoice,
  thrown: unknown,
  tell: Tell,
): Promise<false> {
  if (!(thrown instanceof ConnectError) || target === undefined || target.transport === 'ssh') throw thrown;
  const says = thrown.message.replace(`cannot connect to ${alias}: `, '');
  const steps = stepsOf(target);
  const failed = steps.findIndex(({ fails }) => fails === thrown.reason);
  // A target that cannot be used at all fails before the first step, and what a server refuses after the last.
  const passed = failed >= 0 ? failed : thrown.reason === 'failed' ? 0 : steps.length;
  for (const { name, works } of steps.slice(0, passed))
    await tell({ step: name, ok: true, says: works(target) });
  const advice = adviceFor(alias, target, thrown);
  const step = steps[failed]?.name ?? (thrown.reason === 'roots' ? 'roots' : 'rexd');
  await tell({ step, ok: false, says, ...(advice !== undefined && { advice }) });
  return false;
}

interface DaemonStep {
  readonly name: string;
  readonly works: (target: DaemonTarget) => string;
  readonly fails: ConnectError['reason'];
}

/** In the order in which a connection comes about. */
function stepsOf(target: DaemonTarget): DaemonStep[] {
  const answers = { name: 'network', works: whereAnswers, fails: 'unreachable' } as const;
  if (target.transport === 'unix') return [{ ...answers, name: 'socket' }];
  const tls = { name: 'tls', works: () => 'the certificate is believed', fails: 'certificate' } as const;
  const access = { name: 'access', works: () => 'the daemon lets us in', fails: 'not_authorised' } as const;
  return [answers, ...(isSecure(target) ? [tls] : []), access];
}

function whereAnswers(target: DaemonTarget): string {
  return `${whereIs(target)} answers`;
}

function isSecure({ url }: OnlineTarget): boolean {
  return /^(?:https|wss):/i.test(url);
}

function adviceFor(
  alias: string,
  target: DaemonTarget,
  { reason, message }: ConnectError,
): string | undefined {
  if (target.transport === 'unix') return undefined; // the words of the link say it already
  const again = `rex target add ${alias} ${target.url} --force`;
  if (reason === 'unreachable') return adviceForNetwork(target, message);
  if (reason === 'not_authorised')
    return `The token is the one the daemon was started with (REXD_TOKEN, or its token_file): ${again} --token-file FILE`;
  if (reason === 'certificate') {
    if (/wrong version number/i.test(message)) return 'It speaks no TLS there: write http:// in the address.';
    if (/alert/i.test(message))
      return `The daemon asks for a certificate of ours: ${again} --cert FILE --key FILE`;
    if (/altname/i.test(message))
      return 'The certificate is for another name: write that one in the address.';
    return `If its certificate is of an authority of your own: ${again} --ca FILE`;
  }
  if (reason === 'no_rexd')
    return 'Look at the host, the port and the path: without a path it is /rpc, or /ws.';
  return reason === 'refused' ? 'Try again in a moment.' : undefined;
}

function adviceForNetwork(target: OnlineTarget, message: string): string {
  if (/ECONNREFUSED/.test(message))
    return 'Start it there with "rexd --http ADDRESS:PORT"; if it runs, look at its port and at the address it listens on.';
  if (/ENOTFOUND|EAI_AGAIN/.test(message)) return 'Nobody knows this name: look at the host in the address.';
  if (/ECONNRESET|hang up|cut off/.test(message) && !isSecure(target))
    return 'It hung up without an answer: if it speaks TLS write https:// in the address.';
  return 'Look at the host and the port in the address, and at firewalls on the way.';
}
