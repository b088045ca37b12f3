// The template of an answer: lines of text, assignments, loops, files to be kept.

export type TemplateLine =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'assign'; readonly name: string; readonly value: string }
  | { readonly kind: 'shortcut'; readonly name: string; readonly parts: readonly string[] }
  | {
      readonly kind: 'loop';
      readonly item: string;
      readonly path: string;
      readonly lines: readonly TemplateLine[];
    }
  | { readonly kind: 'save'; readonly path: string }
  | { readonly kind: 'decode'; readonly by: string }
  | { readonly kind: 'to'; readonly path: string };

/** Loops within loops. */
export const MAX_LOOP_DEPTH = 8;

const ASSIGN = /^\{([A-Za-z_]\w*)\}\s*=\s*("[^"]*"|'[^']*'|\{[^{}]+\})$/u;
const SHORTCUT = /^\{@([A-Za-z_][\w-]*)\}\s*=\s*(\S.*)$/u;
const LOOP = /^\s*for:\s*([A-Za-z_]\w*)\s+in\s+\{?([^\s{}]+)\}?\s*$/u;
const END = /^\s*end:\s*$/u;
const FILE = /^(save|decode|to):\s*(\S.*)$/u;

export interface ParsedTemplate {
  readonly lines: readonly TemplateLine[];
  readonly problems: readonly string[];
}

export function parseTemplate(text: string): ParsedTemplate {
  const problems: string[] = [];
  const source = text.split(/\r?\n/u);
  let at = 0;
  const readLines = (depth: number): TemplateLine[] => {
    const lines: TemplateLine[] = [];
    while (at < source.length) {
      const line = source[at++] ?? '';
      if (END.test(line)) {
        if (depth > 0) return lines;
        problems.push('end: without for:');
        continue;
      }
      const loop = LOOP.exec(line);
      if (loop !== null && depth >= MAX_LOOP_DEPTH)
        problems.push(`more than ${MAX_LOOP_DEPTH} loops in each other`);
      lines.push(
        loop === null || depth >= MAX_LOOP_DEPTH
          ? parseLine(line)
          : { kind: 'loop', item: loop[1] ?? '', path: loop[2] ?? '', lines: readLines(depth + 1) },
      );
    }
    if (depth > 0) problems.push('for: without end:');
    return lines;
  };
  return { lines: readLines(0), problems };
}

function parseLine(line: string): TemplateLine {
  const words = line.trim();
  const shortcut = SHORTCUT.exec(words);
  if (shortcut !== null)
    return { kind: 'shortcut', name: shortcut[1] ?? '', parts: splitTuple(shortcut[2] ?? '') };
  const assign = ASSIGN.exec(words);
  if (assign !== null) return { kind: 'assign', name: assign[1] ?? '', value: unquote(assign[2] ?? '') };
  const [, kind, rest = ''] = FILE.exec(words) ?? [];
  if (kind === 'save') return { kind, path: rest.replaceAll(/^\{|\}$/gu, '') };
  if (kind === 'decode') return { kind, by: rest };
  if (kind === 'to') return { kind, path: rest };
  return { kind: 'text', text: line };
}

/** `(a, {b}, "c, d")`; anything else is one part. */
function splitTuple(text: string): string[] {
  if (!text.startsWith('(') || !text.endsWith(')')) return [unquote(text)];
  const parts = text.slice(1, -1).match(/\s*(?:"[^"]*"|'[^']*'|(?:\{[^{}]*\}|[^,])+)\s*(?=,|$)/gu) ?? [];
  return parts.map((part) => unquote(part.trim()));
}

function unquote(text: string): string {
  const [, , inside = ''] = /^(["'])(.*)\1$/su.exec(text) ?? [];
  return /^(["']).*\1$/su.test(text) ? inside : text;
}
