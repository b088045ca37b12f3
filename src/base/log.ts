// Logging: one record a line, to stderr or a file, never to stdout (there it would be protocol noise).

import type { DestinationStream, Logger as PinoLogger } from 'pino';
import { toError } from './errors.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
type RecordLevel = Exclude<LogLevel, 'silent'>;
export type LogFacts = Readonly<Record<string, unknown>>;

export interface Log {
  trace(message: string, facts?: LogFacts): void;
  debug(message: string, facts?: LogFacts): void;
  info(message: string, facts?: LogFacts): void;
  warn(message: string, facts?: LogFacts): void;
  error(message: string, facts?: LogFacts): void;
  /** The same log with `facts` on every record. */
  child(facts: LogFacts): Log;
  /** Resolves when every record so far has been handed to the operating system. Call it before the process exits. */
  flush(): Promise<void>;
}

export interface LogOptions {
  readonly name: string;
  readonly level?: LogLevel;
  /** A file to append to (created 0600); stderr when absent. */
  readonly file?: string;
  readonly format?: 'json' | 'text';
  /** Where records go instead of stderr or a file: for a program that has its own way to write there. */
  readonly out?: { write(line: string): void };
}

/** Records kept while pino loads; it is loaded by the first record, so that a quiet start pays nothing for it. */
export const MAX_EARLY_RECORDS = 1000;
/** What is held for a destination that refuses writes (disk full); past it records are dropped, the service goes on. */
export const MAX_UNWRITTEN_BYTES = 1 << 20;

/** Keys that pino and the text form give a meaning: a fact of that name gets a `_` behind it. */
const RESERVED = new Set(['level', 'time', 'name', 'msg', 'pid', 'hostname']);

export function openLog(options: LogOptions): Log {
  return new LazyLog(new Sink(options), {});
}

class LazyLog implements Log {
  readonly #sink: Sink;
  readonly #facts: LogFacts;

  constructor(sink: Sink, facts: LogFacts) {
    this.#sink = sink;
    this.#facts = facts;
  }

  trace(message: string, facts?: LogFacts): void {
    this.#write('trace', message, facts);
  }
  debug(message: string, facts?: LogFacts): void {
    this.#write('debug', message, facts);
  }
  info(message: string, facts?: LogFacts): void {
    this.#write('info', message, facts);
  }
  warn(message: string, facts?: LogFacts): void {
    this.#write('warn', message, facts);
  }
  error(message: string, facts?: LogFacts): void {
    this.#write('error', message, facts);
  }
  child(facts: LogFacts): Log {
    return new LazyLog(this.#sink, { ...this.#facts, ...facts });
  }
  flush(): Promise<void> {
    return this.#sink.flush();
  }

  #write(level: RecordLevel, message: string, facts: LogFacts | undefined): void {
    if (this.#sink.enabled(level)) this.#sink.write(level, message, readable({ ...this.#facts, ...facts }));
  }
}

/** Owns the pino logger and what arrives before it is there. */
class Sink {
  readonly #options: LogOptions;
  readonly #threshold: number;
  #pino: PinoLogger | undefined;
  #loading: Promise<void> | undefined;
  #early: (() => void)[] = [];
  #overflow = 0;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#threshold = LOG_LEVELS.indexOf(options.level ?? 'info');
  }

  enabled(level: RecordLevel): boolean {
    return LOG_LEVELS.indexOf(level) >= this.#threshold;
  }

  write(level: RecordLevel, message: string, facts: LogFacts): void {
    if (this.#pino !== undefined) {
      this.#pino[level](facts, message);
      return;
    }
    if (this.#early.length < MAX_EARLY_RECORDS) {
      const time = Date.now();
      this.#early.push(() => this.#pino?.[level]({ ...facts, time }, message));
    } else this.#overflow += 1;
    // Without pino there is no log, but there is a service.
    this.#loading ??= this.#load().catch(() => {});
  }

  async flush(): Promise<void> {
    await this.#loading;
  }

  async #load(): Promise<void> {
    const { default: pino } = await import('pino'); // a CommonJS module: bundled, its other names are not there
    const { destination } = pino;
    // sync: a record is written when the call returns, so nothing is lost by an exit that follows.
    const common = { sync: true, maxLength: MAX_UNWRITTEN_BYTES };
    let refused: Error | undefined;
    let out = destination({ dest: 2, ...common });
    if (this.#options.file !== undefined) {
      try {
        out = destination({ dest: this.#options.file, mode: 0o600, mkdir: true, ...common });
      } catch (thrown) {
        refused = toError(thrown); // a log file that cannot be opened leaves us stderr, and a service
      }
    }
    // A log that cannot be written (disk full, closed stderr) must not take the service down with it.
    out.on('error', () => {});
    this.#pino = pino(
      {
        name: this.#options.name,
        level: this.#options.level ?? 'info',
        serializers: { err: (value: unknown) => value }, // errors are described by `readable` below, under any key
        timestamp: false, // set per record below, so that early records keep the time they were made
        mixin: (facts: object) => ('time' in facts ? {} : { time: Date.now() }),
      },
      this.#options.format === 'text' ? asText(this.#options.out ?? out) : (this.#options.out ?? out),
    );
    if (refused !== undefined)
      this.#pino.error({ file: this.#options.file, ...readable({ err: refused }) }, 'log file not usable');
    for (const write of this.#early) write();
    if (this.#overflow > 0)
      this.#pino.warn({ records: this.#overflow }, 'log records lost before the log was open');
    this.#early = [];
  }
}

/** `2026-11-15T10:00:00.000Z INFO name: message key=value …` */
function asText(out: DestinationStream): DestinationStream {
  return {
    write(line: string) {
      const {
        level,
        time,
        name,
        msg,
        pid: _pid,
        hostname: _host,
        ...facts
      } = JSON.parse(line) as Record<string, unknown>;
      const when = new Date(Number(time)).toISOString();
      const label = (LOG_LEVELS[Number(level) / 10 - 1] ?? 'info').toUpperCase();
      const pairs = Object.entries(facts).map(([key, value]) => ` ${bare(key)}=${bare(value)}`);
      out.write(`${when} ${label} ${bare(name)}: ${visible(String(msg))}${pairs.join('')}\n`);
    },
  };
}

/** Facts as pino can write them: an Error keeps its words (as JSON it would be `{}`), no fact poses as the record's own. */
function readable(facts: LogFacts): LogFacts {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [
      RESERVED.has(key) ? `${key}_` : key,
      value instanceof Error ? describe(value) : value,
    ]),
  );
}

function describe(error: Error): LogFacts {
  const { code, facts } = error as { code?: unknown; facts?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(code !== undefined && { code }),
    ...(facts !== undefined && { facts }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: toError(error.cause).message }),
  };
}

/** Quoted unless plainly a word: a value with spaces or line breaks must not look like another record. */
function bare(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return value;
  return visible(JSON.stringify(value));
}

/** No line break, terminal command or change of writing direction gets through to whoever reads the log. */
function visible(text: string): string {
  return text
    .replaceAll(/[\r\n]+/g, ' ⏎ ')
    .replaceAll(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
