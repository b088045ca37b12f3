// Why a target cannot be reached, in words that say what to do.

import { LocalError, RpcError } from '../../base/errors.js';

export interface Failure {
  readonly alias: string;
  /** Reached by ssh. */
  readonly remote: boolean;
  readonly error: Error;
  readonly stderr: string;
  readonly noise: string;
  readonly exitCode?: number | undefined;
}

export type FailureReason =
  | 'no_ssh'
  | 'host_key'
  | 'not_authorised'
  | 'unreachable'
  | 'no_rexd'
  | 'no_node'
  | 'noise'
  | 'roots'
  | 'refused'
  | 'failed';

export class ConnectError extends LocalError {
  override readonly name = 'ConnectError';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause: Error) {
    super('cannot_connect', message, { facts: { reason }, cause });
    this.reason = reason;
  }
}

interface Explanation {
  readonly reason: FailureReason;
  readonly says: RegExp;
  readonly advice: string;
}

/** What ssh and shells print, in the order in which it tells most. */
const EXPLANATIONS: readonly Explanation[] = [
  {
    reason: 'host_key',
    says: /host key verification failed|remote host identification has changed/i,
    advice: 'ssh does not trust the key of the host; connect once with "ssh" and look at the key',
  },
  {
    reason: 'not_authorised',
    says: /permission denied|too many authentication failures|no supported authentication/i,
    advice: 'ssh could not log in without a question; set up a key or an agent for this host',
  },
  {
    reason: 'unreachable',
    says: /could not resolve|connection (?:refused|timed out|reset|closed)|no route to host|network is unreachable|operation timed out/i,
    advice: 'the host cannot be reached; check its name, its port and the network',
  },
  {
    reason: 'no_node',
    says: /env: .?node.?: no such file|node: (?:command )?not found/i,
    advice: 'there is no Node on the host; install Node 20 or newer, or the single binary of rexd',
  },
  {
    reason: 'no_rexd',
    says: /rexd\S*: (?:command not found|not found|no such file)|no such file or directory.*rexd/i,
    advice: 'there is no rexd on the host; install it with "rex target install"',
  },
];

export function explainFailure(failure: Failure): ConnectError {
  const { alias, error, remote } = failure;
  const say = (reason: FailureReason, why: string): ConnectError =>
    new ConnectError(reason, `cannot connect to ${alias}: ${why}`, error);
  if (error instanceof RpcError) return say(error.code === -32002 ? 'roots' : 'refused', error.message);
  if (error instanceof LocalError && error.code === 'cannot_start')
    return say(remote ? 'no_ssh' : 'no_rexd', error.message);
  const printed = `${failure.stderr}\n${failure.noise}`;
  const found = EXPLANATIONS.find(({ says }) => says.test(printed));
  const last = lastLine(failure.stderr);
  const told = last === '' ? '' : ` (it said: ${last})`;
  if (found !== undefined) return say(found.reason, `${found.advice}${told}`);
  if (failure.noise.trim() !== '')
    return say('noise', `something else answered: ${JSON.stringify(failure.noise.trim().slice(0, 400))}`);
  const code = failure.exitCode === undefined ? '' : `, exit code ${failure.exitCode}`;
  return say('failed', `${error.message}${code}${told}`);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
