// A copy of a value that may be written to a log: secrets gone, contents counted, everything bounded.

import { isSecretName, kindOfName, REDACTED } from './redact-names.js';
import { redactArgv, redactText } from './redact-text.js';

/** Levels of nesting shown; below them nobody reads a log, and the walk must not run out of stack. */
export const MAX_DEPTH = 8;
/** Entries of one object or array; the rest is counted. */
export const MAX_ENTRIES = 64;
/** Values in all. */
export const MAX_VALUES = 1000;
/** One text: enough to recognise it by, too little for a file to be copied into the log. */
export const MAX_STRING_CHARS = 1024;
/** A command line may be longer than other text: it is what the log is read for. */
export const MAX_COMMAND_CHARS = 4096;
/** Of one key. */
export const MAX_KEY_CHARS = 128;
/** Characters of text in all; once they are used up a string is only counted. */
export const MAX_TEXT_CHARS = 32 * 1024;

export interface RedactHints {
  /** More names of fields whose text is counted and not shown. */
  readonly contents?: readonly string[];
  /** More names of fields that hold secrets. */
  readonly secrets?: readonly string[];
}

/**
 * Plain JSON, whatever came in: cycles, getters that throw, bigints and buffers do no harm, and the input is not
 * touched. It goes by names (`token`, `content`, `env`, `argv`, …) and by what gives itself away in text, so it is a
 * net with a fine mesh, not a proof: a secret under an innocent name in an innocent shape passes.
 */
export function redact(value: unknown, hints: RedactHints = {}): unknown {
  return new Walk(hints).value(value, 0);
}

class Walk {
  readonly #hints: RedactHints;
  readonly #above: object[] = [];
  #valuesLeft = MAX_VALUES;
  #charsLeft = MAX_TEXT_CHARS;

  constructor(hints: RedactHints) {
    this.#hints = hints;
  }

  value(value: unknown, depth: number): unknown {
    this.#valuesLeft -= 1;
    if (this.#valuesLeft < 0) return '[more]';
    switch (typeof value) {
      case 'string':
        return this.#text(value, MAX_STRING_CHARS);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'bigint':
        return this.#text(value.toString(), MAX_STRING_CHARS);
      case 'undefined':
        return undefined;
      case 'object':
        return value === null ? null : this.#object(value, depth);
      default:
        return `[${typeof value}]`;
    }
  }

  #object(value: object, depth: number): unknown {
    if (this.#above.includes(value)) return '[circular]';
    this.#above.push(value);
    try {
      const bytes = byteCount(value);
      if (bytes !== undefined) return countBytes(bytes);
      return depth < MAX_DEPTH ? this.#structure(value, depth + 1) : '[deep]';
    } catch {
      return '[unreadable]'; // a getter or a proxy that throws
    } finally {
      this.#above.pop();
    }
  }

  #structure(value: object, depth: number): unknown {
    if (Array.isArray(value)) return this.#list(value, (item) => this.value(item, depth));
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (value instanceof Map)
      return this.#fields(
        [...value].map(([key, item]) => [asKey(key), item]),
        depth,
      );
    if (value instanceof Set) return this.#list([...value], (item) => this.value(item, depth));
    if (value instanceof URL || value instanceof RegExp) return this.#text(String(value), MAX_STRING_CHARS);
    if (value instanceof Error) {
      const { name, message } = value;
      return this.#fields(
        Object.entries({ name, message, ...('code' in value && { code: value.code }) }),
        depth,
      );
    }
    return this.#fields(Object.entries(value), depth);
  }

  #list(items: readonly unknown[], show: (item: unknown) => unknown): unknown[] {
    const shown = items.slice(0, MAX_ENTRIES).map((item) => show(item) ?? null);
    if (items.length > MAX_ENTRIES) shown.push(`<${items.length - MAX_ENTRIES} more>`);
    return shown;
  }

  #fields(entries: readonly (readonly [string, unknown])[], depth: number): Record<string, unknown> {
    // `{ name: 'Authorization', value: '…' }`: here the name of the secret is a value.
    const labelled = entries.some(
      ([key, label]) => /^(name|key|header)$/i.test(key) && typeof label === 'string' && isSecretName(label),
    );
    const shown = entries.slice(0, MAX_ENTRIES).map(([key, value]) => {
      const hide = labelled && /^values?$/i.test(key);
      return [redactText(key, MAX_KEY_CHARS), hide ? REDACTED : this.#field(key, value, depth)] as const;
    });
    const more =
      entries.length > MAX_ENTRIES ? [['…', `<${entries.length - MAX_ENTRIES} more>`] as const] : [];
    return Object.fromEntries([...shown, ...more]); // defines own fields, also one called __proto__
  }

  #field(key: string, value: unknown, depth: number): unknown {
    if (value === undefined || value === null) return value;
    if (this.#hints.secrets?.includes(key) === true) return REDACTED;
    if (this.#hints.contents?.includes(key) === true) return this.#contents(value, depth);
    switch (kindOfName(key, value)) {
      case 'secret':
        return REDACTED;
      case 'contents':
        return this.#contents(value, depth);
      case 'environment':
        return this.#environment(value);
      case 'command':
        return this.#command(value, depth);
      default:
        return this.value(value, depth);
    }
  }

  #contents(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return countBytes(Buffer.byteLength(value));
    if (Array.isArray(value) && depth < MAX_DEPTH && !this.#above.includes(value)) {
      this.#above.push(value);
      const shown = this.#list(value, (item) => this.#contents(item, depth + 1));
      this.#above.pop();
      return shown;
    }
    return this.value(value, depth);
  }

  /** The names of what is set may be seen, the values never: there is no telling which of them is a secret. */
  #environment(value: unknown): unknown {
    if (Array.isArray(value)) {
      return this.#list(value, (item) =>
        typeof item === 'string' && item.includes('=')
          ? `${redactText(item.slice(0, item.indexOf('=')), MAX_KEY_CHARS)}=[set]`
          : '[set]',
      );
    }
    if (typeof value !== 'object' || value === null) return REDACTED;
    const names = value instanceof Map ? [...value.keys()].map(asKey) : Object.keys(value);
    const shown = names
      .slice(0, MAX_ENTRIES)
      .map((name) => [redactText(name, MAX_KEY_CHARS), '[set]'] as const);
    const more = names.length > MAX_ENTRIES ? [['…', `<${names.length - MAX_ENTRIES} more>`] as const] : [];
    return Object.fromEntries([...shown, ...more]);
  }

  #command(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value, MAX_COMMAND_CHARS);
    if (!Array.isArray(value) || !value.every((word) => typeof word === 'string'))
      return this.value(value, depth);
    const words = redactArgv(value.slice(0, MAX_ENTRIES), MAX_STRING_CHARS).map((word) => this.#spend(word));
    return value.length > MAX_ENTRIES ? [...words, `<${value.length - MAX_ENTRIES} more>`] : words;
  }

  #text(text: string, max: number): string {
    return this.#charsLeft <= 0 ? `<${text.length} characters>` : this.#spend(redactText(text, max));
  }

  #spend(text: string): string {
    if (this.#charsLeft <= 0 && text.length > 64) return `<${text.length} characters>`;
    this.#charsLeft -= text.length;
    return text;
  }
}

function byteCount(value: object): number | undefined {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return value instanceof ArrayBuffer || value instanceof SharedArrayBuffer ? value.byteLength : undefined;
}

function countBytes(bytes: number): string {
  return `<${bytes} bytes>`;
}

function asKey(key: unknown): string {
  return typeof key === 'string' ? key : typeof key;
}
