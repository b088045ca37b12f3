// What stringd is told by its environment: where it listens, where it keeps things, how long events stay.

import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { LocalError } from '../base/errors.js';
import { DEFAULT_PORT } from '../wire/stringd-defaults.js';

/** A delivered event that nobody has acknowledged is sent again on connect for so long: five minutes. */
export const REDELIVER_GRACE_MS = 300_000;
/** How long an acknowledged event is kept. */
const RETENTION_DAYS = 7;
/** How often what is past its time is removed. */
export const SWEEP_INTERVAL_MS = 3_600_000;
/** Events a webhook takes in a second, over a longer time; twice as many at once. */
export const MAX_WEBHOOK_EVENTS_PER_SECOND = 5000;

const DAY_MS = 86_400_000;
const MAX_PORT = 65_535;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface EventSettings {
  readonly redeliverGraceMs: number;
  readonly retentionMs: number;
  readonly sweepIntervalMs: number;
  /** Per webhook. */
  readonly eventsPerSecond: number;
}

export interface StringdConfig {
  readonly port: number;
  /** Everything that is kept, unless said otherwise: `~/.string`. */
  readonly root: string;
  /** `agents.json`, the inbox, logs. */
  readonly dataDir: string;
  /** The homes of agents that have named none. */
  readonly homesDir: string;
  /** Whether homes without a record get one at the start. */
  readonly adoptHomes: boolean;
  /** Only the topics of the protocol, no `file:` and `web:`. */
  readonly strictTopics: boolean;
  /** Agents reach every file that the daemon can, not only their homes and allowed paths. */
  readonly fullAccess: boolean;
  /** A log file in the data folder. */
  readonly logToFile: boolean;
  readonly events: EventSettings;
}

export class ConfigError extends LocalError {
  override readonly name = 'ConfigError';

  constructor(variable: string, value: string, wanted: string) {
    super('bad_config', `${variable}=${JSON.stringify(value)}: expected ${wanted}`, {
      facts: { variable, value },
    });
  }
}

/** Throws ConfigError for a value that is none: a silent fallback would serve where nobody looks. */
export function readConfig(env: Environment): StringdConfig {
  const home = (): string => findHome(env);
  const root = folder(env, 'STRING_ROOT', home) ?? join(home(), '.string');
  return {
    port: readPort(env),
    root,
    dataDir: folder(env, 'STRING_DATA_DIR', home) ?? join(root, 'daemon'),
    homesDir: join(root, 'agents'),
    adoptHomes: !isOn(env, 'STRING_NO_AGENT_RECOVERY'),
    strictTopics: readTopics(env),
    fullAccess: readAccess(env),
    logToFile: isOn(env, 'STRING_LOG'),
    events: {
      redeliverGraceMs: amount(env, 'STRING_EVENT_REDELIVER_GRACE_MS') ?? REDELIVER_GRACE_MS,
      retentionMs: (amount(env, 'STRING_EVENT_RETENTION_DAYS') ?? RETENTION_DAYS) * DAY_MS,
      sweepIntervalMs: amount(env, 'STRING_EVENT_SWEEP_INTERVAL_MS', 1) ?? SWEEP_INTERVAL_MS,
      eventsPerSecond: amount(env, 'STRING_WEBHOOK_RATE', 1) ?? MAX_WEBHOOK_EVENTS_PER_SECOND,
    },
  };
}

export function readPort(env: Environment): number {
  const value = text(env, 'STRING_PORT');
  return value === undefined ? DEFAULT_PORT : parsePort('STRING_PORT', value, 1);
}

/** `least` 0 for a flag, where 0 means any free port. */
export function parsePort(name: string, value: string, least: 0 | 1): number {
  const port = /^\d{1,5}$/.test(value.trim()) ? Number(value) : Number.NaN;
  if (port >= least && port <= MAX_PORT) return port;
  throw new ConfigError(name, value, `a port, a whole number from ${least} to ${MAX_PORT}`);
}

function readTopics(env: Environment): boolean {
  const value = text(env, 'STRING_TOPICS');
  if (value === undefined || value === 'strict' || value === 'lenient') return value === 'strict';
  throw new ConfigError('STRING_TOPICS', value, 'strict or lenient');
}

function readAccess(env: Environment): boolean {
  const value = text(env, 'STRING_ACCESS');
  if (value === undefined || value === 'home' || value === 'full') return value === 'full';
  throw new ConfigError('STRING_ACCESS', value, 'home or full');
}

/** A variable that is there and blank is as good as none. */
function text(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === '' ? undefined : value;
}

function isOn(env: Environment, name: string): boolean {
  const value = text(env, name)?.trim().toLowerCase();
  if (value === undefined || ['0', 'false', 'no', 'off'].includes(value)) return false;
  if (['1', 'true', 'yes', 'on'].includes(value)) return true;
  throw new ConfigError(name, value, '1 or 0');
}

function amount(env: Environment, name: string, least = 0): number | undefined {
  const value = text(env, name)?.trim();
  if (value === undefined) return undefined;
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= Number.MAX_SAFE_INTEGER) return number;
  throw new ConfigError(name, value, `a number from ${least}`);
}

/** A process in a container may have neither the variable nor an entry in the list of users. */
function findHome(env: Environment): string {
  const said = text(env, 'HOME');
  if (said !== undefined && isAbsolute(said)) return said;
  const known = said === undefined ? homeOfUser() : undefined;
  if (known !== undefined) return known;
  throw new ConfigError(
    'HOME',
    said ?? '',
    'the whole path of your home folder, or STRING_ROOT instead of it',
  );
}

/** Of the list of users, in which not everybody is. */
export function homeOfUser(): string | undefined {
  try {
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : undefined;
  } catch {
    return undefined;
  }
}

function folder(env: Environment, name: string, home: () => string): string | undefined {
  const value = text(env, name);
  if (value === undefined) return undefined;
  if (value === '~' || value.startsWith('~/')) return join(home(), value.slice(1));
  return isAbsolute(value) ? value : resolve(value);
}
