// A place in a template where a value goes: `{name}`, `{name[1]}`, `{name|base64}`, `{...args}`.

export interface Slot {
  readonly name: string;
  /** Of a tuple; undefined for all of it. */
  readonly index: number | undefined;
  readonly modifiers: readonly string[];
  /** `{...args}`: every field as an option. */
  readonly spread: boolean;
  /** As it was written. */
  readonly raw: string;
}

/** More digits would be no index of anything. */
const SLOT = /\{(?:(\.\.\.)args|([A-Za-z_][\w-]*)(?:\[(\d{1,4})\])?((?:\|[a-z0-9]+)*))\}/uy;
const VARIABLE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/uy;

/** Undefined when no slot begins at `at`. */
export function slotAt(text: string, at: number): Slot | undefined {
  if (text[at] !== '{') return undefined;
  SLOT.lastIndex = at;
  const match = SLOT.exec(text);
  if (match === null) return undefined;
  const [raw, spread, name = '', index, modifiers = ''] = match;
  return {
    name,
    index: index === undefined ? undefined : Number(index),
    modifiers: modifiers === '' ? [] : modifiers.slice(1).split('|'),
    spread: spread !== undefined,
    raw,
  };
}

/** `$NAME` or `${NAME}`. Undefined when none begins at `at`. */
export function variableAt(
  text: string,
  at: number,
): { readonly name: string; readonly raw: string } | undefined {
  if (text[at] !== '$') return undefined;
  VARIABLE.lastIndex = at;
  const match = VARIABLE.exec(text);
  return match === null ? undefined : { name: match[1] ?? match[2] ?? '', raw: match[0] };
}

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string; readonly at: number }
  | { readonly kind: 'slot'; readonly slot: Slot; readonly at: number }
  | { readonly kind: 'variable'; readonly name: string; readonly raw: string; readonly at: number };

/** Of an address, a header, a body: nothing there is quoted. */
export function splitTemplate(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let from = 0;
  const flush = (to: number): void => {
    if (to > from) parts.push({ kind: 'text', text: text.slice(from, to), at: from });
  };
  for (let at = 0; at < text.length; at++) {
    const variable = variableAt(text, at);
    const slot = variable === undefined ? slotAt(text, at) : undefined;
    const raw = variable?.raw ?? slot?.raw;
    if (raw === undefined) continue;
    flush(at);
    if (variable !== undefined) parts.push({ kind: 'variable', ...variable, at });
    else if (slot !== undefined) parts.push({ kind: 'slot', slot, at });
    from = at + raw.length;
    at = from - 1;
  }
  flush(text.length);
  return parts;
}
