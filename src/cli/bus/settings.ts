// The configuration that the flags name, and what of it they override.

import { LOG_LEVELS, type LogLevel } from '../../base/log.js';
import { nearest } from '../../base/nearest.js';
import { MAX_CONFIG_FD, readConfigDescriptor, readConfigFile } from '../../bus/config/read-config.js';
import type { BusConfig } from '../../bus/config/schema.js';
import { sayPlace, type ListenPlace } from '../../bus/listen/listener.js';
import { parseListenAddress } from '../../guard/listen-address.js';
import { assertPathFits } from '../../wire/transport/socket-path.js';
import { resolve } from 'node:path';
import { type Flags, UsageError } from '../flags.js';

export interface BusSettings {
  readonly config: BusConfig;
  /** Reads the configuration again; undefined when it came by a descriptor, which is read once. */
  readonly read: (() => BusConfig) | undefined;
  readonly where: ListenPlace | 'stdio';
  readonly log: { readonly level: LogLevel; readonly format: 'text' | 'json' };
}

export function readSettings(flags: Flags): BusSettings {
  const read = chooseReader(flags);
  const config = read.now();
  return {
    config,
    read: read.again,
    where: choosePlace(flags, config),
    log: {
      level: oneOf(flags, 'log-level', LOG_LEVELS) ?? config.log.level,
      format: oneOf(flags, 'log-format', ['text', 'json'] as const) ?? config.log.format,
    },
  };
}

export function sayWhere(where: ListenPlace | 'stdio'): string {
  return where === 'stdio' ? 'stdio' : sayPlace(where);
}

function chooseReader(flags: Flags): { now: () => BusConfig; again: (() => BusConfig) | undefined } {
  const file = flags.value('config');
  const descriptor = flags.value('config-fd');
  if (file !== undefined && descriptor !== undefined)
    throw new UsageError('--config and --config-fd: give one of them');
  if (file !== undefined) {
    const path = resolve(file); // a reload finds it wherever we are by then
    const now = (): BusConfig => readConfigFile(path === file ? file : path);
    return { now, again: now };
  }
  if (descriptor === undefined) throw new UsageError('--config FILE is needed (or --config-fd N)');
  const fd = Number(descriptor);
  if (!/^\d+$/.test(descriptor) || fd > MAX_CONFIG_FD)
    throw new UsageError(
      `--config-fd: expected a descriptor from 0 to ${MAX_CONFIG_FD}, got "${descriptor}"`,
    );
  return { now: () => readConfigDescriptor(fd), again: undefined };
}

/** What is said on the command line counts for more than the configuration. */
function choosePlace(flags: Flags, { transport }: BusConfig): ListenPlace | 'stdio' {
  const given = ['stdio', 'unix', 'tcp'].filter((name) => flags.has(name));
  if (given.length > 1)
    throw new UsageError(`${given.map((name) => `--${name}`).join(' and ')}: choose one of them`);
  const { options } = transport;
  const mode = given[0] ?? transport.mode ?? 'stdio';
  if (mode === 'unix') {
    const path = flags.value('unix') ?? options.path;
    if (path === undefined)
      throw new UsageError('transport.mode is "unix": say where, by --unix PATH or transport.options.path');
    assertPathFits(path);
    return { path: resolve(path) };
  }
  if (mode !== 'tcp') return 'stdio';
  const listen = flags.value('tcp') ?? options.listen;
  if (listen === undefined)
    throw new UsageError(
      'transport.mode is "tcp": say where, by --tcp HOST:PORT or transport.options.listen',
    );
  return parseListenAddress(listen);
}

function oneOf<T extends string>(flags: Flags, name: string, known: readonly T[]): T | undefined {
  const asked = flags.value(name);
  if (asked === undefined) return undefined;
  const found = known.find((each) => each === asked);
  if (found !== undefined) return found;
  const close = nearest(asked, known);
  throw new UsageError(
    `--${name}: expected one of ${known.join(', ')}, got "${asked}"${close === undefined ? '' : `; did you mean ${close}?`}`,
  );
}
