// How one file is brought over: the name of its part, and where a copy that was cut goes on.

import { createHash } from 'node:crypto';

/** Of the end of a part, compared with the source before more is added: that is where a cut does its damage. */
export const TAIL_BYTES = 1024 * 1024;
/** A name longer than this does not exist on the file systems we know. */
export const MAX_NAME_BYTES = 255;

export interface SourceVersion {
  /** Target and path. */
  readonly place: string;
  readonly size: number;
  readonly mtimeMs: number;
}

const ENDING = '.rex-part';

/**
 * Beside the goal, with what it is a part of in its name: a source that has changed since has another part, and the old
 * one is of no use.
 */
export function partName(goal: string, { place, size, mtimeMs }: SourceVersion): string {
  const key = digest(`${place}\0${size}\0${mtimeMs}`);
  return `${partPrefix(goal)}${key}${ENDING}`;
}

/** Whether it is a part of the same goal, of whatever version. */
export function isPartOf(goal: string, name: string): boolean {
  const prefix = partPrefix(goal);
  return name.startsWith(prefix) && /^[0-9a-f]{12}\.rex-part$/.test(name.slice(prefix.length));
}

function partPrefix(goal: string): string {
  const plain = `.${goal}.`;
  return Buffer.byteLength(plain) + 12 + ENDING.length <= MAX_NAME_BYTES ? plain : `.rex-${digest(goal)}.`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

export interface ResumePlan {
  /** Bytes of the part that are kept. */
  readonly offset: number;
  /** What is there is of no use and is removed first. */
  readonly discard: boolean;
  /** The stretch that must be the same on both sides before anything is added; nothing when empty. */
  readonly check: { readonly from: number; readonly to: number };
}

/** `partSize` undefined: there is none. */
export function planResume(size: number, partSize: number | undefined): ResumePlan {
  if (partSize === undefined) return { offset: 0, discard: false, check: { from: 0, to: 0 } };
  if (partSize > size) return { offset: 0, discard: true, check: { from: 0, to: 0 } };
  return {
    offset: partSize,
    discard: false,
    check: { from: Math.max(0, partSize - TAIL_BYTES), to: partSize },
  };
}
