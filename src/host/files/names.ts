// File names are bytes, ours are strings: how each becomes the other without a name getting lost.
//
// A name that is not UTF-8 keeps its stray bytes as lone surrogates, byte 0xNN as U+DCNN (the convention Python
// calls surrogateescape). No UTF-8 name decodes to such a string, so it is reversible, and a path that came out of
// `list` can go into `read` as it is. Only bytes from 0x80 up are spelled so: `/`, `.` and NUL cannot be smuggled in.

import { readlinkSync } from 'node:fs';
import { posix } from 'node:path';
import { InvalidPathError } from './path-errors.js';

/** The longest path the kernel takes, its closing NUL included. */
export const MAX_PATH_BYTES = 4096;

/** Before cleaning, which can shorten it. */
export const MAX_ASKED_CHARS = 4 * MAX_PATH_BYTES;

const ESCAPED_LOW = 0xdc80;
const ESCAPED_HIGH = 0xdcff;
const LONE_SURROGATES = /\p{Surrogate}/gu;
/** What Node puts for bytes that are not UTF-8. */
export const REPLACEMENT = '\u{FFFD}';

/** An absolute path in its shortest spelling: `.`, `..` and doubled slashes resolved by text alone. */
export function cleanPath(path: string): string {
  if (path === lastClean) return path; // who checks a path and who uses it both ask, one after the other
  if (path === '') throw new InvalidPathError(path, 'empty');
  if (path.length > MAX_ASKED_CHARS)
    throw new InvalidPathError(path.slice(0, MAX_ASKED_CHARS), 'path too long');
  if (!path.startsWith('/')) throw new InvalidPathError(path, 'not absolute');
  if (path.includes('\0')) throw new InvalidPathError(path, 'contains a NUL byte');
  if (!isSpelledRight(path)) throw new InvalidPathError(path, 'not valid Unicode');
  const clean = posix.resolve(path);
  if (clean.length * 3 >= MAX_PATH_BYTES && encodeName(clean).length >= MAX_PATH_BYTES) {
    throw new InvalidPathError(path, 'path too long');
  }
  lastClean = clean;
  return clean;
}

let lastClean: string | undefined;

/** What to hand to a system call: the string itself, or its bytes when it carries escaped ones. */
export function toSystemPath(path: string): string | Buffer {
  return isRawName(path) ? encodeName(path) : path;
}

export function encodeName(name: string): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { index } of name.matchAll(LONE_SURROGATES)) {
    // Any other lone surrogate is left to Node, which makes it U+FFFD: U+DC2F must never come out as a slash.
    if (!isEscape(name.charCodeAt(index))) continue;
    parts.push(Buffer.from(name.slice(from, index), 'utf8'), Buffer.of(name.charCodeAt(index) & 0xff));
    from = index + 1;
  }
  parts.push(Buffer.from(name.slice(from), 'utf8'));
  return Buffer.concat(parts);
}

export function decodeName(bytes: Buffer): string {
  const whole = bytes.toString('utf8');
  if (!whole.includes(REPLACEMENT) || isUtf8(bytes)) return whole;
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    text +=
      length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length);
    at += Math.max(1, length);
  }
  return text;
}

/** True for a name that is not UTF-8 on the disk: whoever shows it to people or strict parsers should know. */
export function isRawName(name: string): boolean {
  return !name.isWellFormed();
}

export function readLinkText(link: string | Buffer): string {
  const text = readlinkSync(link);
  return text.includes(REPLACEMENT) ? decodeName(readlinkSync(link, { encoding: 'buffer' })) : text;
}

/** Whether every lone surrogate stands for a byte. */
export function isSpelledRight(path: string): boolean {
  if (!isRawName(path)) return true;
  for (const { index } of path.matchAll(LONE_SURROGATES)) {
    if (!isEscape(path.charCodeAt(index))) return false;
  }
  return true;
}

/** Asked for when it is needed, which is hardly ever: the first answer comes before that. */
function isUtf8(bytes: Buffer): boolean {
  return process.getBuiltinModule('node:buffer').isUtf8(bytes);
}

function isEscape(unit: number): boolean {
  return unit >= ESCAPED_LOW && unit <= ESCAPED_HIGH;
}

/** Bytes of the whole character at `at`, 0 if there is none. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}
