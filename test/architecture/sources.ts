// The source files of the project and what each imports, read as text.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** The source file it names, from the repository's root; undefined for packages. */
  readonly file: string | undefined;
  readonly typeOnly: boolean;
}

export interface Source {
  /** From the repository's root: `src/base/lane.ts`. */
  readonly file: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

export function readSources(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const file = join(folder, name);
      const text = readFileSync(join(ROOT, file), 'utf8');
      return { file, text, imports: importsOf(file, text) };
    })
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

const STATIC = /^(?:(?:import|export)\s(?<what>[^'";=]*?)\sfrom\s|import\s)['"](?<specifier>[^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"](?<specifier>[^'"]+)['"]\s*\)/g;

export function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  for (const { groups } of text.matchAll(STATIC)) {
    found.push(describe(file, groups?.['specifier'] ?? '', groups?.['what']?.startsWith('type ') ?? false));
  }
  for (const { groups } of text.matchAll(DYNAMIC))
    found.push(describe(file, groups?.['specifier'] ?? '', false));
  return found;
}

function describe(from: string, specifier: string, typeOnly: boolean): Import {
  if (!specifier.startsWith('.')) return { specifier, file: undefined, typeOnly };
  const target = relative('.', normalize(join(dirname(from), specifier))).replace(/\.js$/, '.ts');
  return { specifier, file: target, typeOnly };
}
