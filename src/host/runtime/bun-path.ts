// Paths as text, for the binary in place of node:path: Bun's own goes through UTF-8 and loses names that are none.

export const delimiter = ':';

export function resolve(...paths: readonly string[]): string {
  let path = '';
  for (const part of [process.cwd(), ...paths])
    if (part !== '') path = isAbsolute(part) ? part : `${path}/${part}`;
  return `/${clean(path, true).join('/')}`;
}

export function join(...paths: readonly string[]): string {
  return normalize(paths.filter((path) => path !== '').join('/'));
}

export function normalize(path: string): string {
  const kept = clean(path, isAbsolute(path)).join('/');
  const end = path.endsWith('/') ? '/' : '';
  if (isAbsolute(path)) return kept === '' ? '/' : `/${kept}${end}`;
  return kept === '' ? `.${end}` : `${kept}${end}`;
}

export function relative(from: string, to: string): string {
  const [base, target] = [from, to].map((path) => clean(resolve(path), true)) as [string[], string[]];
  const shared = base.findIndex((name, i) => name !== target[i]);
  const common = shared === -1 ? base.length : shared;
  return [...base.slice(common).map(() => '..'), ...target.slice(common)].join('/');
}

export function dirname(path: string): string {
  const slash = lastSlash(path);
  if (slash === -1) return isAbsolute(path) ? '/' : '.';
  if (slash === 0) return '/';
  return slash === 1 && isAbsolute(path) ? '//' : path.slice(0, slash);
}

export function basename(path: string): string {
  const name = withoutEnd(path);
  return name.slice(name.lastIndexOf('/') + 1);
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/');
}

/** Of those that do not end the path. */
function lastSlash(path: string): number {
  return withoutEnd(path).lastIndexOf('/');
}

/** No expression: the first use of one would be before the first answer. */
function withoutEnd(path: string): string {
  let end = path.length;
  while (path.charAt(end - 1) === '/') end -= 1;
  return path.slice(0, end);
}

function clean(path: string, absolute: boolean): string[] {
  const kept: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..' || (kept.length === 0 && !absolute) || kept.at(-1) === '..') kept.push(name);
    else kept.pop();
  }
  return kept;
}

export const posix = { delimiter, resolve, join, normalize, relative, dirname, basename };
