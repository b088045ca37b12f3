// A configuration as text: from a file or a descriptor, and where it stops being JSON.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { errnoOf, toError } from '../../base/errors.js';
import { findJsonError, positionAt } from '../../host/store/json-position.js';
import { checkConfig } from './check-config.js';
import { BusConfigError } from './config-error.js';
import type { BusConfig } from './schema.js';

/** A configuration is a page of text; whatever is larger is some other file. */
export const MAX_CONFIG_BYTES = 4 * 1024 * 1024;
/** The highest descriptor that a configuration may be passed as; a number past it is a slip. */
export const MAX_CONFIG_FD = 1024;

/** Throws BusConfigError for whatever is in the way. */
export function readConfigFile(file: string): BusConfig {
  let fd: number | undefined;
  try {
    if (statSync(file).isDirectory()) throw new BusConfigError(file, 'is a directory');
    fd = openSync(file, 'r');
    return parseConfig(readAll(fd, file), file);
  } catch (thrown) {
    throw explain(thrown, file);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Reads the descriptor to its end, and closes it. */
export function readConfigDescriptor(fd: number): BusConfig {
  const where = `descriptor ${fd}`;
  try {
    fstatSync(fd);
    const text = readAll(fd, where);
    if (fd > 2) closeSync(fd);
    return parseConfig(text, where);
  } catch (thrown) {
    throw explain(thrown, where);
  }
}

export function parseConfig(text: string, where: string): BusConfig {
  const source = text.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (thrown) {
    throw new BusConfigError(where, sayWhere(source, thrown), thrown);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BusConfigError(where, 'expected a JSON object: {"pools": [{"id": …, "command": …}]}');
  return checkConfig(value, where);
}

function sayWhere(source: string, thrown: unknown): string {
  if (source.trim() === '') return 'is empty; the least there can be is {"pools": [{"id": …, "command": …}]}';
  const index = findJsonError(source);
  if (index === undefined) return `is not JSON: ${toError(thrown).message}`;
  const { line, column } = positionAt(source, index);
  const at = `line ${line}, column ${column}`;
  if (isWhole(source.slice(0, index))) return `${at}: there is text after the end of the configuration`;
  if (index >= source.length) return `${at}: the text ends before the configuration does`;
  return `${at}: is not JSON from here on (${JSON.stringify(source.slice(index, index + 12))})`;
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readAll(fd: number, where: string): string {
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const part = Buffer.allocUnsafe(64 * 1024);
    const length = readSync(fd, part, 0, part.length, null);
    if (length === 0) break;
    size += length;
    if (size > MAX_CONFIG_BYTES) throw new BusConfigError(where, `is larger than ${MAX_CONFIG_BYTES} bytes`);
    parts.push(part.subarray(0, length));
  }
  return Buffer.concat(parts).toString('utf8');
}

function explain(thrown: unknown, where: string): BusConfigError {
  if (thrown instanceof BusConfigError) return thrown;
  const errno = errnoOf(thrown);
  if (errno === undefined) throw thrown;
  const why =
    errno === 'ENOENT' ? 'no such file' : errno === 'EBADF' ? 'is not open' : `cannot be read (${errno})`;
  return new BusConfigError(where, why, thrown);
}
