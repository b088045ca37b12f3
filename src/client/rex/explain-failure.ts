// Why a target cannot be reached, in words that say what to do.

import { LocalError, RpcError } from '../../base/errors.js';
import { MAX_NOISE_BYTES, NoiseError } from './skip-noise.js';

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
  | 'ssh_config'
  | 'host_key'
  | 'not_authorised'
  | 'unreachable'
  | 'no_rexd'
  | 'no_node'
  | 'noise'
  | 'certificate'
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

/** Of ssh itself, which then ends with this; a command on the other side hardly does. */
const SSH_FAILED = 255;

/** What ssh says when it fails, in the order in which it tells most. */
const SSH_SAYS: readonly Explanation[] = [
  {
    reason: 'host_key',
    says: /^.*remote host identification has changed.*$/im,
    advice:
      'the host has another key than it used to; if it was set up anew remove the old key with "ssh-keygen -R" and its name, otherwise somebody may be in between',
  },
  {
    reason: 'host_key',
    says: /^.*(?:host key is known|host key verification failed).*$/im,
    advice: 'ssh does not know the key of the host; connect once with "ssh" and look at the key',
  },
  {
    reason: 'ssh_config',
    says: /^.*(?:bad configuration option|terminating, \d+ bad|bad owner or permissions|unsupported option|keyword .* extra arguments|missing argument|can't open user config file).*$/im,
    advice: 'ssh does not accept its configuration',
  },
  {
    reason: 'not_authorised',
    says: /^.*(?:load key .*|identity file .* not accessible.*|private key file is too open.*|unprotected private key file.*)$/im,
    advice: 'ssh cannot use the key',
  },
  {
    reason: 'not_authorised',
    says: /^.*(?:permission denied \(|permission denied, |too many authentication failures|no supported authentication).*$/im,
    advice:
      'ssh could not log in without asking; give this host a key that needs no passphrase here, or an agent that has it',
  },
  {
    reason: 'unreachable',
    says: /^.*(?:could not resolve|connect failed|connection (?:refused|timed out|reset|closed)|no route to host|network is unreachable|operation timed out|not responding|banner exchange|invalid ssh identification).*$/im,
    advice: 'the host cannot be reached; check its name, its port and the network',
  },
];

/** What the shell on the other side says, or the program it has started. */
const FAR_SAYS: readonly Explanation[] = [
  {
    reason: 'no_node',
    says: /^.*(?:env: .?node.?: no such file|node: (?:command )?not found|\bnode: No such file).*$/im,
    advice: 'there is no Node on the host; install Node 20 or newer, or the single binary of rexd',
  },
  {
    reason: 'no_node',
    says: /^Node\.js v(?:[0-9]|1[0-9])\..*$/m,
    advice: 'the Node on the host is too old; install Node 20 or newer, or the single binary of rexd',
  },
  {
    reason: 'not_authorised',
    says: /^.*account is (?:currently )?not available.*$/im,
    advice: 'the account may not run commands on the host',
  },
];

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export function explainFailure(failure: Failure): ConnectError {
  const { alias, error, remote } = failure;
  const { reason, why } = findReason(failure);
  const where = remote ? alias : `${alias} (this machine)`;
  return new ConnectError(reason, `cannot connect to ${where}: ${why}`, error);
}

/** The same for a daemon that is reached by its address. */
export function explainOnline(alias: string, error: Error): ConnectError {
  const { reason, why } = error instanceof RpcError ? explainRefusal(error) : findOnlineReason(error);
  return new ConnectError(reason, `cannot connect to ${alias}: ${why}`, error);
}

/** Known by their codes: what tells these errors is loaded only with the links that throw them. */
const ONLINE_REASONS: Readonly<Record<string, FailureReason>> = {
  online_not_authorised: 'not_authorised',
  online_certificate: 'certificate',
  online_unreachable: 'unreachable',
  online_not_rexd: 'no_rexd',
  online_busy: 'refused',
  online_bad_target: 'failed',
};

/** The peer wraps what its link failed with. */
function findOnlineReason(error: Error): Finding {
  for (const each of [error, error.cause]) {
    const reason = each instanceof LocalError ? ONLINE_REASONS[each.code] : undefined;
    if (reason !== undefined) return { reason, why: (each as Error).message };
  }
  return { reason: 'failed', why: error.message };
}

interface Finding {
  readonly reason: FailureReason;
  readonly why: string;
}

function findReason({ error, remote, stderr, noise, exitCode }: Failure): Finding {
  if (error instanceof RpcError) return explainRefusal(error);
  if (error instanceof LocalError && error.code === 'cannot_start')
    return { reason: remote ? 'no_ssh' : 'no_rexd', why: error.message };
  if (remote && exitCode === SSH_FAILED) {
    const found = explain(SSH_SAYS, stderr);
    if (found !== undefined) return found;
  }
  const found = explain(FAR_SAYS, `${stderr}\n${noise}`);
  if (found !== undefined) return found;
  const told = tell(lastLine(stderr) ?? lastLine(noise));
  if (exitCode === NOT_FOUND)
    return { reason: 'no_rexd', why: `there is no rexd; install it with "rex target install"${told}` };
  if (exitCode === NOT_EXECUTABLE)
    return { reason: 'no_rexd', why: `rexd is there but cannot be run${told}` };
  return findNoise(error, noise) ?? { reason: 'failed', why: `${sayEnd(error, exitCode)}${told}` };
}

/** By what REXD puts into the data of a path that is outside. */
function explainRefusal({ code, message, data }: RpcError): Finding {
  if (code !== -32002) return { reason: 'refused', why: message };
  const { path, allowed_roots: roots } = (data ?? {}) as { path?: unknown; allowed_roots?: unknown };
  const given = Array.isArray(roots) && roots.length > 0 ? `only ${roots.join(', ')}` : 'no folder at all';
  return {
    reason: 'roots',
    why: `rexd does not give ${String(path)}, ${given}; see "roots" in its configuration`,
  };
}

function explain(explanations: readonly Explanation[], printed: string): Finding | undefined {
  for (const { reason, says, advice } of explanations) {
    const [line] = says.exec(printed) ?? [];
    if (line !== undefined) return { reason, why: `${advice}${tell(line.trim())}` };
  }
  return undefined;
}

function findNoise(error: Error, noise: string): Finding | undefined {
  const printed = noise.trim();
  if (printed === '') return undefined;
  const tooMuch = isTooMuchNoise(error);
  const first = tooMuch
    ? `more than ${MAX_NOISE_BYTES / 1024} KiB were printed before the protocol began; keep the login's rc files silent when nobody is at a terminal`
    : 'something else answered than rexd';
  return { reason: 'noise', why: `${first}; it begins: ${JSON.stringify(printed.slice(0, 400))}` };
}

/** The peer wraps what its input failed with. */
function isTooMuchNoise(error: Error): boolean {
  const cause = error instanceof NoiseError ? error : error.cause;
  return cause instanceof NoiseError && cause.tooMuch;
}

function sayEnd(error: Error, exitCode: number | undefined): string {
  return exitCode === undefined ? error.message : `${error.message}, exit code ${exitCode}`;
}

function tell(line: string | undefined): string {
  return line === undefined ? '' : ` (it said: ${line.slice(0, 400)})`;
}

function lastLine(text: string): string | undefined {
  const line = text.trim().split('\n').at(-1)?.trim();
  return line === '' ? undefined : line;
}
