// The rules of one .gitignore file, as git reads them: the last that fits decides.
//
// Everything here is bytes, one character each (latin1), because git matches bytes: `?` is half of an umlaut.

import { type Effort, type IgnorePattern, parsePattern } from './ignore-pattern.js';

/** Rules of one file: each entry may be held against all of them. What is beyond does not count. */
export const MAX_IGNORE_RULES = 5000;
/** A longer rule names no path there can be, or costs more to match than it can be worth. */
export const MAX_RULE_BYTES = 1024;

interface Rule {
  readonly isNegated: boolean;
  readonly directoryOnly: boolean;
  /** The pattern has a slash, and is about the path below the file's folder; else about the name alone. */
  readonly isPath: boolean;
  readonly pattern: IgnorePattern;
  /** The later the stronger. */
  readonly rank: number;
}

export class IgnoreRules {
  /** Most rules are plain names, found without trying one after the other. */
  readonly #plain = new Map<string, Rule[]>();
  /** The strongest first. */
  readonly #others: Rule[] = [];

  constructor(text: string) {
    let rank = 0;
    for (const line of text.replace(/^\u00EF\u00BB\u00BF/, '').split('\n')) {
      if (rank === MAX_IGNORE_RULES) break;
      const rule = parseRule(line, rank);
      if (rule === undefined) continue;
      rank += 1;
      if (rule.isPath || rule.pattern.plain === undefined) this.#others.push(rule);
      else this.#remember(rule.pattern.plain, rule);
    }
    this.#others.reverse();
  }

  /**
   * True for ignored, false for expressly not, undefined for no word about it, or for effort that is used up. `path` is
   * asked for if a rule needs it.
   */
  verdict(name: string, path: () => string, isDirectory: boolean, effort: Effort): boolean | undefined {
    const plain = this.#plain.get(name)?.find((rule) => isDirectory || !rule.directoryOnly);
    for (const rule of this.#others) {
      if (plain !== undefined && plain.rank > rule.rank) break;
      if (rule.directoryOnly && !isDirectory) continue;
      effort.left -= 1;
      const isFit = rule.pattern.matches(rule.isPath ? path() : name, effort);
      if (effort.left < 0) return undefined;
      if (isFit) return !rule.isNegated;
    }
    return plain && !plain.isNegated;
  }

  #remember(name: string, rule: Rule): void {
    const rules = this.#plain.get(name);
    if (rules === undefined) this.#plain.set(name, [rule]);
    else rules.unshift(rule);
  }
}

function parseRule(line: string, rank: number): Rule | undefined {
  if (line.startsWith('#')) return undefined;
  let text = trimSpaces(line.endsWith('\r') ? line.slice(0, -1) : line);
  const isNegated = text.startsWith('!');
  if (isNegated) text = text.slice(1);
  const directoryOnly = text.endsWith('/');
  if (directoryOnly) text = text.slice(0, -1);
  if (text === '' || text.length > MAX_RULE_BYTES) return undefined;
  const isPath = text.includes('/');
  const pattern = parsePattern(isPath && text.startsWith('/') ? text.slice(1) : text, isPath);
  return pattern && { isNegated, directoryOnly, isPath, pattern, rank };
}

/** Spaces at the end do not count, unless the first of them is escaped. */
function trimSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === ' ') end -= 1;
  let escapes = 0;
  while (text[end - 1 - escapes] === '\\') escapes += 1;
  return escapes % 2 === 1 && end < text.length ? text.slice(0, end + 1) : text.slice(0, end);
}
