// The pseudo-terminal add-on: loaded at first use, and used only for what nothing else can do.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LocalError } from '../../base/errors.js';
import { bun } from '../runtime/bun.js';
import { EMBEDDED_ADDONS } from './embedded-addons.js';

/**
 * Of node-pty we take the two system calls and leave its streams alone. Measured on Linux, they lose the last 8 KiB of
 * a program that ends right after writing (libuv takes a hang-up for the end of data), drop what was not read 200 ms
 * after the exit, and spin in place, event loop and all, while a program does not take its input.
 */
export interface NativePty {
  /** Two descriptors, neither of which closes on exec, and the name of the terminal. */
  open(cols: number, rows: number): { readonly master: number; readonly slave: number; readonly pty: string };
  resize(master: number, cols: number, rows: number): void;
}

export class PtyUnavailableError extends LocalError {
  override readonly name = 'PtyUnavailableError';

  constructor(cause: unknown) {
    super('pty_unavailable', 'terminals are not supported on this host', {
      cause,
      facts: { platform: process.platform, arch: process.arch },
    });
  }
}

const HERE = `${process.platform}-${process.arch}`;
const BINARY = `@lydell/node-pty-${HERE}/pty.node`;

let loaded: Promise<NativePty> | undefined;

/** The add-on is optional: a host without it runs everything but terminals. Rejects with PtyUnavailableError there. */
export function loadPty(load: () => Promise<unknown> = importAddon): Promise<NativePty> {
  if (load !== importAddon) return refuseUnlessUsable(load);
  loaded ??= refuseUnlessUsable(load);
  return loaded;
}

async function refuseUnlessUsable(load: () => Promise<unknown>): Promise<NativePty> {
  try {
    const addon = await load();
    if (isNativePty(addon)) return addon;
    throw new TypeError('the add-on has no open or no resize');
  } catch (cause) {
    throw new PtyUnavailableError(cause);
  }
}

/** Whether the add-on is there, without the cost of loading it. It may still turn out not to work. */
export function isPtyInstalled(): boolean {
  if (bun !== undefined || EMBEDDED_ADDONS[HERE] !== undefined) return true;
  // Where npm puts it, as a rule: looking there is done in less time than it takes to load Node's resolver.
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules', BINARY))) return true;
    if (folder === dirname(folder)) break;
  }
  try {
    findBinary();
    return true;
  } catch {
    return false;
  }
}

/** Asked for when it is needed: node:module takes its time to load. */
function resolverAt(place: string): NodeJS.Require {
  return process.getBuiltinModule('node:module').createRequire(place);
}

async function importAddon(): Promise<unknown> {
  if (bun !== undefined) return (await import('../runtime/bun-pty.js')).openBunPty();
  const embedded = EMBEDDED_ADDONS[HERE];
  if (embedded !== undefined) {
    const [{ loadPackedAddon }, { packed }] = await Promise.all([import('./unpack-addon.js'), embedded()]);
    return loadPackedAddon(packed);
  }
  await import('@lydell/node-pty'); // finds the binary for this platform, or says at length why there is none
  return resolverAt(import.meta.url)(findBinary());
}

function findBinary(): string {
  const fromPackage = resolverAt(resolverAt(import.meta.url).resolve('@lydell/node-pty'));
  return fromPackage.resolve(BINARY);
}

function isNativePty(addon: unknown): addon is NativePty {
  if (typeof addon !== 'object' || addon === null) return false;
  const { open, resize } = addon as Partial<NativePty>;
  return typeof open === 'function' && typeof resize === 'function';
}
