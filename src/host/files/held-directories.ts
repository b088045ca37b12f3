// Directories kept open for a moment: whoever asks about a file mostly asks about its neighbour next.
//
// A pin on every file costs five system calls. Of a directory that is already held, one tells that it still is where it
// was asked for, and the next is the question itself, put from the held directory and never following a link.

import { isShortage } from './errors.js';
import { type Pin, realPathOf } from './pin.js';
import type { RootSet } from './root-set.js';
import { pinDirectory } from './walk.js';

/** Enough for the folders of one task; beyond it all are given back and held anew as they are asked for. */
export const MAX_HELD_DIRECTORIES = 16;
/** From the first of them on, used or not: nobody waits longer to unmount a disk, or to see one mounted over a directory. */
export const HELD_MS = 250;

interface Held {
  readonly set: RootSet;
  /** Absent for a path that leads to its directory by a link, or to none: there the walk has to say what to make of it. */
  readonly pin: Pin | undefined;
}

const held = new Map<string, Held>();
let release: NodeJS.Timeout | undefined;

/** The path of the entry `asked` in its held directory, to be used at once and not followed. Undefined says nothing. */
export function entryOf(set: RootSet, asked: string): string | Buffer | undefined {
  const cut = asked.lastIndexOf('/');
  const directory = asked.slice(0, cut);
  if (cut <= 0 || !set.contains(directory) || set.withheld?.has(asked) === true) return undefined;
  return hold(set, directory)?.at(asked.slice(cut + 1));
}

function hold(set: RootSet, directory: string): Pin | undefined {
  const known = held.get(directory);
  if (known?.set !== set) return holdAnew(set, directory);
  if (known.pin === undefined || realPathOf(known.pin.fd, directory) === directory) return known.pin;
  letGo();
  return undefined;
}

function holdAnew(set: RootSet, directory: string): Pin | undefined {
  if (held.size >= MAX_HELD_DIRECTORIES || held.has(directory)) letGo();
  const pin = tryPin(set, directory);
  held.set(directory, { set, pin });
  release ??= setTimeout(letGo, HELD_MS).unref();
  return pin;
}

function tryPin(set: RootSet, directory: string): Pin | undefined {
  let pin: Pin;
  try {
    pin = pinDirectory(set, directory);
  } catch (error) {
    if (isShortage(error)) letGo();
    return undefined;
  }
  if (pin.real === directory) return pin;
  pin[Symbol.dispose]();
  return undefined;
}

/** Gives them back before their time: whoever looks after open descriptors wants to know what is really left. */
export function letGo(): void {
  clearTimeout(release);
  release = undefined;
  for (const { pin } of held.values()) pin?.[Symbol.dispose]();
  held.clear();
}
