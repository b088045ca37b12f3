// A path into an answer: `Response.body.items[0].name`, `body.0.name`, `$.body`.

export type Found = { readonly found: true; readonly value: unknown } | { readonly found: false };

const MISSING: Found = { found: false };

export function lookUp(root: unknown, path: string): Found {
  let value = root;
  for (const key of keysOf(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return MISSING;
    value = (value as Record<string, unknown>)[key];
  }
  return { found: true, value };
}

function keysOf(path: string): string[] {
  return path
    .replace(/^\$\./u, '')
    .replaceAll(/\[(\d+|"[^"]*"|'[^']*')\]/gu, (_, key: string) => `.${key.replaceAll(/^["']|["']$/gu, '')}`)
    .split('.')
    .filter((key) => key !== '');
}

/** As it stands in a text: nothing for null, JSON for what has parts. */
export function stringify(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The names that there are beside the one that was missing. */
export function keysAt(root: unknown, path: string): string[] {
  const keys = keysOf(path);
  for (let length = keys.length - 1; length >= 0; length--) {
    const found = lookUp(root, keys.slice(0, length).join('.'));
    if (found.found && typeof found.value === 'object' && found.value !== null)
      return Object.keys(found.value).slice(0, 20);
  }
  return [];
}
