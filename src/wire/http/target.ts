// The request target (`/path?query`, `http://host/path`, `*`) in its parts.

export interface Target {
  /** Still percent-encoded. `*` only for `OPTIONS *`. */
  readonly path: string;
  /** Without the `?`. */
  readonly query: string;
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Undefined for a target that is none of the forms a server must know. `//x/y` is a path, never a host. */
export function parseTarget(raw: string): Target | undefined {
  let text = raw;
  if (!text.startsWith('/')) {
    if (text === '*') return { path: '*', query: '' };
    const origin = ABSOLUTE_FORM.exec(text);
    if (origin === null) return undefined;
    text = text.slice(origin[0].length);
    if (!text.startsWith('/')) text = `/${text}`;
  }
  const mark = text.indexOf('?');
  return mark === -1 ? { path: text, query: '' } : { path: text.slice(0, mark), query: text.slice(mark + 1) };
}
