// What an editing command is about: a file, a block of it, some of its lines; and the text that comes with the command.

import { pin } from '../../host/files/walk.js';
import { unquoteTarget } from '../arguments.js';
import type { CommandLine } from '../command-line.js';
import type { CommandCall } from '../command.js';
import type { LineRange } from '../edit/edit-text.js';
import { pathOfUri } from '../files/agent-files.js';
import { resolveWritten } from '../load/resolve-target.js';
import { type Failure, fail } from '../result.js';

export interface EditTarget {
  readonly ok: true;
  readonly path: string;
  /** As the agent wrote it, or from home when it wrote no path. */
  readonly shown: string;
  /** The same without block and lines. */
  readonly file: string;
  readonly block: string | undefined;
  readonly lines: LineRange | undefined;
}

export interface EditArguments {
  readonly flags: ReadonlySet<string>;
  readonly target: string;
  /** The body, else what follows the target in the first line. */
  readonly text: string | undefined;
}

/** Quoted parts, and what touches them. */
const QUOTED = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/u;
const SHORTCUT = /^@[\w.-]+$/u;
const RANGE = /:L(\d{1,9})(?:-L?(\d{1,9}))?$/u;

/**
 * With a body the first line is the target, blanks and all; without one the target ends at the first blank, unless it is
 * quoted. Options stand before the target, or behind it.
 */
export function readEditArguments(line: CommandLine, known: readonly string[] = []): EditArguments {
  const flags = new Set<string>();
  const isKnown = (word: string): boolean => word.startsWith('--') && known.includes(word.slice(2));
  const takeFlags = (text: string): string => {
    for (let rest = text; ; ) {
      const word = /^\S*/u.exec(rest)?.[0] ?? '';
      if (!isKnown(word)) return rest;
      flags.add(word.slice(2));
      rest = rest.slice(word.length).trimStart();
    }
  };
  let rest = takeFlags(line.args.trim());
  if (line.body === undefined || line.body === '') {
    const whole = (/^["']/u.test(rest) ? QUOTED.exec(rest) : null)?.[0] ?? /^\S*/u.exec(rest)?.[0] ?? '';
    const text = takeFlags(rest.slice(whole.length).trimStart());
    return { flags, target: unquoteTarget(whole), text: text === '' ? undefined : text };
  }
  for (let word = lastWord(rest); isKnown(word); word = lastWord(rest)) {
    flags.add(word.slice(2));
    rest = rest.slice(0, -word.length).trimEnd();
  }
  return { flags, target: unquoteTarget(rest), text: line.body };
}

/** Without a path it is the document that is open. `usage` is for commands that were told nothing at all. */
export function resolveEditTarget(call: CommandCall, raw: string, usage: string): EditTarget | Failure {
  const { files } = call.runtime;
  if (raw === '' && call.session.document === undefined) return fail('INVALID_TARGET', `Usage: ${usage}`);
  if (/^(?!file:)[a-z][\w+.-]*:\/\//iu.test(raw))
    return fail('INVALID_TARGET', `Only files can be edited: ${raw}`);
  const { path, block, lines } = splitTarget(call, raw);
  if (path.endsWith('/')) return fail('INVALID_TARGET', `A folder, not a file: ${path}`);
  if (block === '') return fail('INVALID_TARGET', `Block without a name: ${raw}`);
  try {
    const named = SHORTCUT.test(path) ? resolveShortcut(call, path) : undefined;
    if (named?.ok === false) return named;
    if (named !== undefined) {
      const file = files.shorten(named.path);
      const part = named.block !== undefined && path === raw ? named.block : block;
      const shown =
        path === raw && part !== undefined ? `${file}#${part}` : `${file}${raw.slice(path.length)}`;
      return { ok: true, path: named.path, shown, file, block: part, lines };
    }
    if (path !== '') {
      const absolute = path.startsWith('file:') ? pathOfUri(path) : files.resolve(call.session, path);
      if (absolute === undefined) return fail('INVALID_TARGET', `Not a file address: ${path}`);
      return { ok: true, path: absolute, shown: raw, file: path, block, lines };
    }
    const { document } = call.session;
    if (document === undefined) return fail('INVALID_TARGET', 'No document open.', `Usage: ${usage}`);
    const open = pathOfUri(document.uri);
    if (open === undefined) return fail('INVALID_TARGET', `Only files can be edited: ${document.uri}`);
    const file = files.shorten(open);
    return { ok: true, path: open, shown: `${file}${raw}`, file, block, lines };
  } catch (thrown) {
    if (thrown instanceof TypeError) return fail('INVALID_TARGET', `Not a file address: ${raw}`);
    return files.explain(thrown, raw);
  }
}

/** Whether there is such a file, as far as the agent may know. */
export function isThere(call: CommandCall, target: string): boolean {
  const { files } = call.runtime;
  try {
    pin(files.roots().files, files.resolve(call.session, target))[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}

/** Undefined for a file that has such a name. */
function resolveShortcut(
  call: CommandCall,
  name: string,
): { readonly ok: true; readonly path: string; readonly block: string | undefined } | Failure | undefined {
  const { session, runtime } = call;
  const found = session.shortcuts.resolve(name);
  if (found === undefined)
    return isThere(call, name)
      ? undefined
      : fail(
          'NOT_FOUND',
          `Shortcut not found: ${name}`,
          'Recovery: /nav page shows the shortcuts of this page.',
          `A file of that name is ./${name}`,
        );
  if (typeof found.value !== 'string')
    return fail('INVALID_TARGET', `${name} is a value for actions, not a page: (${found.value.join(', ')})`);
  const [path = '', block] = found.value.split('#', 2);
  const base = session.document?.uri;
  const isTyped = found.kind === 'value' || base === undefined;
  if (path === '' && base === undefined) return fail('INVALID_TARGET', 'No document open.');
  const place =
    path === ''
      ? ({ ok: true, path: pathOfUri(base ?? '') } as const)
      : isTyped
        ? ({ ok: true, path: runtime.files.resolve(session, path) } as const)
        : resolveWritten(call, path, base);
  if (!place.ok) return place;
  if (!('path' in place) || place.path === undefined)
    return fail('INVALID_TARGET', `Only files can be edited: ${found.value}`);
  return { ok: true, path: place.path, block: block === '' ? undefined : block };
}

function splitTarget(
  call: CommandCall,
  raw: string,
): { path: string; block: string | undefined; lines: LineRange | undefined } {
  const hash = raw.indexOf('#');
  // A name may have a `#` in it.
  if (hash !== -1 && !(hash > 0 && isThere(call, raw)))
    return { path: raw.slice(0, hash), block: raw.slice(hash + 1), lines: undefined };
  const range = RANGE.exec(raw);
  if (range === null) return { path: raw, block: undefined, lines: undefined };
  const first = Number(range[1]);
  const last = range[2] === undefined ? first : Number(range[2]);
  return { path: raw.slice(0, range.index), block: undefined, lines: { first, last } };
}

function lastWord(text: string): string {
  return /\S*$/u.exec(text)?.[0] ?? '';
}
