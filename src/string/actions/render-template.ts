// An answer through its template: what is shown, and what the topic shall remember of it.

import { keysAt, lookUp, stringify } from './look-up.js';
import type { TemplateLine } from './parse-template.js';
import { textOf, type Value } from './value.js';

/** Of what is shown; an answer with more in it needs a narrower question. */
export const MAX_TEMPLATE_CHARS = 1024 * 1024;
/** Put into lines and values in one run, also where it is not shown: what takes longer holds up everybody else. */
export const MAX_FILLED_CHARS = 16 * 1024 * 1024;
/** Named at the end of an answer. */
const MAX_UNRESOLVED = 20;
/** Rounds of all loops together. */
export const MAX_ROUNDS = 100_000;
/** Kept by `{@name}` in one run. */
export const MAX_VALUE_SHORTCUTS = 10_000;

export interface TemplateInput {
  /** `{Response…}`. */
  readonly response: Readonly<Record<string, unknown>>;
  readonly values: ReadonlyMap<string, Value>;
  readonly variables: ReadonlyMap<string, string>;
  readonly isDeclared: (name: string) => boolean;
}

export interface FileToKeep {
  readonly path: string;
  readonly data: Buffer;
}

export interface RenderedTemplate {
  readonly output: string;
  readonly variables: ReadonlyMap<string, string>;
  /** By name: the ids `name`, or `name-1`, `name-2`, …, with their values. */
  readonly shortcuts: ReadonlyMap<string, readonly (readonly [id: string, value: Value])[]>;
  readonly files: readonly FileToKeep[];
}

const REFERENCE = /\{(@?)([A-Za-z_$][^{}\s]*)\}/gu;

export function renderTemplate(lines: readonly TemplateLine[], input: TemplateInput): RenderedTemplate {
  return new Rendering(input).run(lines);
}

class Rendering {
  readonly #input: TemplateInput;
  readonly #output: string[] = [];
  #chars = 0;
  #filled = 0;
  #rounds = 0;
  #full: string | undefined;
  readonly #variables = new Map<string, string>();
  readonly #shortcuts = new Map<string, (readonly [string, Value])[]>();
  #shortcutCount = 0;
  readonly #files: FileToKeep[] = [];
  readonly #unresolved = new Map<string, readonly string[]>();
  readonly #items = new Map<string, unknown>();
  #saved: { readonly from: string; readonly text: string | undefined } | undefined;
  #decode = 'none';

  constructor(input: TemplateInput) {
    this.#input = input;
  }

  run(lines: readonly TemplateLine[]): RenderedTemplate {
    this.#runAll(lines, false);
    while (this.#output.at(-1)?.trim() === '') this.#output.pop();
    for (const [path, keys] of this.#unresolved)
      this.#output.push(
        `Unresolved template reference {${path}}; available: ${keys.length === 0 ? '(none)' : keys.join(', ')}`,
      );
    if (this.#full !== undefined) this.#output.push(`[… ${this.#full}; the rest is left out …]`);
    return {
      output: this.#output.join('\n'),
      variables: this.#variables,
      shortcuts: this.#shortcuts,
      files: this.#files,
    };
  }

  #runAll(lines: readonly TemplateLine[], inLoop: boolean): void {
    for (const line of lines) {
      if (this.#full !== undefined) return;
      this.#runLine(line, inLoop);
    }
  }

  #runLine(line: TemplateLine, inLoop: boolean): void {
    if ((this.#filled += 1) > MAX_FILLED_CHARS)
      this.#full = `more than ${MAX_FILLED_CHARS} characters filled in`;
    switch (line.kind) {
      case 'text':
        this.#print(this.#fill(line.text));
        break;
      case 'assign':
        this.#variables.set(line.name, this.#fill(line.value, ''));
        break;
      case 'shortcut':
        this.#keepShortcut(
          line.name,
          line.parts.map((part) => this.#fill(part, '')),
          inLoop,
        );
        break;
      case 'loop':
        this.#loop(line);
        break;
      case 'save':
        this.#saved = { from: line.path, text: this.#textAt(line.path) };
        if (this.#saved.text === undefined) this.#print(`save: path returned no value: ${line.path}`);
        break;
      case 'decode':
        this.#decode = line.by;
        break;
      default:
        this.#keepFile(this.#fill(line.path, ''));
    }
  }

  #loop({ item, path, lines }: Extract<TemplateLine, { kind: 'loop' }>): void {
    const found = this.#find(path);
    if (!found.found || !Array.isArray(found.value)) return;
    const outer = this.#items.get(item);
    const hadOuter = this.#items.has(item);
    for (const each of found.value) {
      if ((this.#rounds += 1) > MAX_ROUNDS) this.#full = `more than ${MAX_ROUNDS} rounds`;
      if (this.#full !== undefined) break;
      this.#items.set(item, each);
      this.#runAll(lines, true);
    }
    if (hadOuter) this.#items.set(item, outer);
    else this.#items.delete(item);
  }

  #keepShortcut(name: string, parts: readonly string[], numbered: boolean): void {
    if ((this.#shortcutCount += 1) > MAX_VALUE_SHORTCUTS) {
      this.#full = `more than ${MAX_VALUE_SHORTCUTS} shortcuts`;
      return;
    }
    const kept = this.#shortcuts.get(name) ?? [];
    kept.push([
      numbered ? `${name}-${kept.length + 1}` : name,
      parts.length === 1 ? (parts[0] ?? '') : parts,
    ]);
    this.#shortcuts.set(name, kept);
  }

  #keepFile(path: string): void {
    if (this.#saved?.text === undefined) {
      if (this.#saved === undefined) this.#print(`to: nothing was saved for ${path}`);
      return;
    }
    if (this.#decode !== 'none' && this.#decode !== 'base64') {
      this.#print(`decode: unknown: ${this.#decode}`);
      return;
    }
    this.#files.push({
      path,
      data: Buffer.from(this.#saved.text, this.#decode === 'base64' ? 'base64' : 'utf8'),
    });
  }

  #print(line: string): void {
    this.#chars += line.length + 1;
    if (this.#chars > MAX_TEMPLATE_CHARS) this.#full = `more than ${MAX_TEMPLATE_CHARS} characters`;
    else this.#output.push(line);
  }

  /** `missing` stands for a path that leads nowhere; without it the reference stays, and is named at the end. */
  #fill(text: string, missing?: string): string {
    return text.replaceAll(REFERENCE, (raw: string, at: string, path: string) => {
      if (this.#filled > MAX_FILLED_CHARS) return '';
      if (at === '@') {
        const id = this.#shortcuts.get(path)?.at(-1)?.[0];
        return id === undefined ? raw : `@${id}`;
      }
      const [root = ''] = /^\$\.|^[^.[]+/u.exec(path) ?? [];
      if (!this.#isPath(root)) return this.#count(this.#plain(path) ?? raw);
      const found = this.#find(path);
      if (found.found) return this.#count(stringify(found.value));
      if (this.#unresolved.size < MAX_UNRESOLVED) this.#unresolved.set(path, this.#keysNear(path));
      return missing ?? raw;
    });
  }

  #count(text: string): string {
    this.#filled += text.length;
    return text;
  }

  #isPath(root: string): boolean {
    return root === 'Response' || root === '$.' || this.#items.has(root);
  }

  /** `{field}`, `{field[1]}`, `{var}`. */
  #plain(path: string): string | undefined {
    const [, name = '', index] = /^([A-Za-z_][\w-]*)(?:\[(\d{1,4})\])?$/u.exec(path) ?? [];
    const own = this.#variables.get(name);
    if (own !== undefined && index === undefined) return own;
    const value = this.#input.values.get(name) ?? this.#input.variables.get(name);
    if (value === undefined) return this.#input.isDeclared(name) ? '' : undefined;
    return index === undefined ? textOf(value) : textOf(value, Number(index));
  }

  #find(path: string): ReturnType<typeof lookUp> {
    return lookUp(this.#scope(), path.replace(/^\$\./u, 'Response.'));
  }

  #textAt(path: string): string | undefined {
    const found = this.#find(path);
    return found.found && found.value !== null ? this.#count(stringify(found.value)) : undefined;
  }

  #keysNear(path: string): readonly string[] {
    return keysAt(this.#scope(), path.replace(/^\$\./u, 'Response.'));
  }

  #scope(): Record<string, unknown> {
    return { Response: this.#input.response, ...Object.fromEntries(this.#items) };
  }
}
