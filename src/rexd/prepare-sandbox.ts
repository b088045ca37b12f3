// The sandbox that a configuration asks for: tried out at the start, and never pretended.

import { LocalError } from '../base/errors.js';
import type { Sandbox } from '../guard/sandbox.js';
import type { Withheld } from '../host/files/withheld.js';
import type { RexdConfig } from './settings.js';

export interface PreparedSandbox {
  readonly sandbox?: Sandbox;
  /** Why there is none although one was asked for. */
  readonly reason?: string;
}

export class SandboxUnavailableError extends LocalError {
  override readonly name = 'SandboxUnavailableError';

  constructor(reason: string, file: string | undefined) {
    const where = file === undefined ? '' : ` in ${file}`;
    super(
      'sandbox_unavailable',
      `security.sandbox.mode is "required"${where}, but there is no sandbox: ${reason}`,
      { facts: { reason } },
    );
  }
}

/** Without a sandbox asked for, nothing is loaded and nothing is run. Rejects with SandboxUnavailableError. */
export async function prepareSandbox(config: RexdConfig, withheld: Withheld): Promise<PreparedSandbox> {
  const { mode, network, read_write: readWrite, read_only: readOnly } = config.security.sandbox;
  if (mode === 'off') return {};
  const { openSandbox } = await import('../guard/sandbox-probe.js');
  const opened = await openSandbox({ network, readWrite, readOnly, withheld });
  if (!('problem' in opened)) return { sandbox: opened };
  if (mode === 'required') throw new SandboxUnavailableError(opened.problem, config.file);
  return { reason: opened.problem };
}

/** For `--check`. */
export function describeSandbox({ security }: RexdConfig, { sandbox, reason }: PreparedSandbox) {
  const { mode, network, read_write, read_only } = security.sandbox;
  return { mode, active: sandbox !== undefined, network, read_write, read_only, reason: reason ?? null };
}

export function saySandbox(facts: ReturnType<typeof describeSandbox>): string {
  if (facts.mode === 'off') return 'off';
  if (!facts.active) return `${facts.mode}, but not in force: ${facts.reason}`;
  const more = [
    ...facts.read_write.map((path) => `write ${path}`),
    ...facts.read_only.map((p) => `read ${p}`),
  ];
  return [`in force (${facts.mode})`, facts.network ? 'with network' : 'without network', ...more].join(', ');
}
