// What is written down of a detached process before it runs, so that none is ever unknown.

import { closeSync, constants, fstatSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, LocalError } from '../../base/errors.js';

/** An entry is less than this; what is larger was not written by us. */
export const MAX_ENTRY_BYTES = 256 * 1024;
/** Of the command in the entry, which is there to be recognised by. */
export const MAX_ENTRY_ARGV_CHARS = 16 * 1024;

export interface DetachedEntry {
  readonly id: string;
  /** What the process and all that descends from it carry. */
  readonly mark: string;
  readonly argv: readonly string[];
  /** As people know it. */
  readonly cwd: string;
  /** Where that was at the start, without links. */
  readonly realCwd: string;
  readonly startedAtMs: number;
  /** Kept of each output. */
  readonly maxBytes: number;
  /** Pids mean something only on this machine, since this start of it, and inside this namespace. */
  readonly host: string;
  readonly bootId: string;
  readonly namespace: string;
  /** The request it was started for, if that had a name: `print` stands for all that it asked for. */
  readonly request?: { readonly id: string; readonly print: string } | undefined;
}

export class BadEntryError extends LocalError {
  override readonly name = 'BadEntryError';

  constructor(why: string, cause?: unknown) {
    super('bad_entry', why, { cause });
  }

  /** There is nothing at all, not something wrong. */
  get isMissing(): boolean {
    return errnoOf(this.cause) === 'ENOENT';
  }
}

export const ENTRY_NAME = 'entry.json';

/** The whole of it or nothing: whoever looks meanwhile sees no half of an entry. */
export function writeEntry(folder: string, entry: DetachedEntry): void {
  const argv = cutArgv(entry.argv);
  writeFileSync(join(folder, `${ENTRY_NAME}.new`), JSON.stringify({ version: 1, ...entry, argv }), {
    mode: 0o600,
    flag: 'wx',
  });
  renameSync(join(folder, `${ENTRY_NAME}.new`), join(folder, ENTRY_NAME));
}

/** Throws BadEntryError for one that was not written by us, or not to its end. */
export function readEntry(folder: string, id: string): DetachedEntry {
  let value: unknown;
  try {
    value = JSON.parse(readOwnFile(join(folder, ENTRY_NAME), MAX_ENTRY_BYTES).toString('utf8'));
  } catch (thrown) {
    if (thrown instanceof BadEntryError) throw thrown;
    throw new BadEntryError('the entry is not JSON', thrown);
  }
  if (!isEntry(value) || value.id !== id) throw new BadEntryError('the entry is not one of ours');
  return value;
}

/** A regular file of our own, not through a link. Throws BadEntryError. */
export function openOwnFile(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    throw new BadEntryError('a file of the entry cannot be opened', thrown);
  }
  const stat = fstatSync(fd);
  if (stat.isFile() && stat.uid === process.getuid?.()) return fd;
  closeSync(fd);
  throw new BadEntryError('a file of the entry is not a file of ours');
}

export function readOwnFile(path: string, maxBytes: number): Buffer {
  const fd = openOwnFile(path);
  try {
    const size = fstatSync(fd).size;
    if (size > maxBytes) throw new BadEntryError(`a file of the entry is larger than ${maxBytes} bytes`);
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(fd, bytes, 0, size, 0));
  } finally {
    closeSync(fd);
  }
}

function isEntry(value: unknown): value is DetachedEntry {
  if (typeof value !== 'object' || value === null) return false;
  const entry = value as Partial<Record<keyof DetachedEntry | 'version', unknown>>;
  return (
    entry.version === 1 &&
    [entry.id, entry.mark, entry.cwd, entry.realCwd, entry.host, entry.bootId, entry.namespace].every(
      (text) => typeof text === 'string' && text !== '',
    ) &&
    Array.isArray(entry.argv) &&
    entry.argv.every((word) => typeof word === 'string') &&
    (entry.request === undefined || isRequest(entry.request)) &&
    Number.isSafeInteger(entry.startedAtMs) &&
    Number.isSafeInteger(entry.maxBytes)
  );
}

function isRequest(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { id, print } = value as { readonly id?: unknown; readonly print?: unknown };
  return typeof id === 'string' && typeof print === 'string';
}

function cutArgv(argv: readonly string[]): string[] {
  let left = MAX_ENTRY_ARGV_CHARS;
  const kept: string[] = [];
  for (const word of argv) {
    if (word.length > left) {
      kept.push(`${word.slice(0, left)}…`);
      break;
    }
    kept.push(word);
    left -= word.length + 1;
  }
  return kept;
}
