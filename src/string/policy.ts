// What pages may do for an agent, by whose word they are. A policy.json takes from it; nothing gives more.

import * as z from 'zod/mini';

/** Whose word a page is: the agent's own, a package's that somebody installed, a stranger's. */
export type Trust = 'local' | 'installed' | 'remote';

export const CAPABILITIES = [
  'commands',
  'get',
  'mutate',
  'private',
  'autorun',
  'files',
  'variables',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** What a stranger's page never may, whatever a file says. Its requests go to where it came from. */
const NEVER_REMOTE: ReadonlySet<Capability> = new Set(['commands', 'private', 'autorun', 'files']);

const Switches = z.optional(z.partialRecord(z.enum(CAPABILITIES), z.boolean()));

export const PolicyFile = z.strictObject({
  /** `/exec`, and `bash:` topics. */
  shell: z.optional(z.boolean()),
  local: Switches,
  installed: Switches,
  remote: Switches,
});
export type PolicyFile = z.infer<typeof PolicyFile>;

export class Policy {
  readonly #file: PolicyFile;

  constructor(file: PolicyFile = {}) {
    this.#file = file;
  }

  get shell(): boolean {
    return this.#file.shell !== false;
  }

  allows(trust: Trust, capability: Capability): boolean {
    if (trust === 'remote' && NEVER_REMOTE.has(capability)) return false;
    return this.#file[trust]?.[capability] !== false;
  }

  /** What is off although it is on elsewhere. */
  get switchedOff(): string[] {
    const trusts = ['local', 'installed', 'remote'] as const;
    return [
      ...(this.shell ? [] : ['shell']),
      ...trusts.flatMap((trust) =>
        CAPABILITIES.filter((each) => this.#file[trust]?.[each] === false).map((each) => `${trust} ${each}`),
      ),
    ];
  }
}
