// docs/limits.md: every cap of the code, what it is for in the words of its comment, and a test of it.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './paths.js';

export interface Cap {
  readonly name: string;
  readonly value: string;
  /** The comment above it. */
  readonly why: string;
  readonly file: string;
  /** The test files that import its module and name it, the likeliest first. */
  readonly tests: readonly string[];
}

/** Exported numbers that bound something: `MAX_…`, or anything in bytes or milliseconds. */
const CAP =
  /(?<comment>\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^export const (?<name>MAX_[A-Z0-9_]+|[A-Z0-9_]+_(?:BYTES|MS))\b[^=]*=\s*(?<value>[^;]+);/gm;

export function findCaps(): Cap[] {
  const tests = filesBelow('test').map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
  return filesBelow('src').flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(CAP)].map(({ groups }) => {
      const name = groups?.['name'] ?? '';
      const module = file.replace(/^src/, '/src').replace(/\.ts$/, '.js');
      const reached = tests.filter(
        ({ text }) => new RegExp(`\\b${name}\\b`).test(text) && text.includes(`${module}'`),
      );
      return {
        name,
        value: (groups?.['value'] ?? '').replaceAll(/\s+/g, ' '),
        why: plainComment(groups?.['comment'] ?? ''),
        file,
        tests: reached.map((test) => test.file).sort((a, b) => likeness(b, file) - likeness(a, file)),
      };
    }),
  );
}

export function renderLimitsPage(): string {
  const caps = findCaps();
  const layers = [...new Set(caps.map(({ file }) => file.split('/').slice(1, -1).join('/')))].sort();
  return [
    '# Limits',
    'Every buffer, queue, line, file and wait has a cap. Written by `npm run docs` from the code; a test fails when a cap has no reason or no test.',
    'A cap is in the code; a *limit* is a number users set. The limits of `rexd` are in its configuration, see `rexd --check`.',
    ...layers.flatMap((layer) => [
      `## ${layer}`,
      [
        '| cap | value | why | tested in |',
        '|---|---|---|---|',
        ...caps
          .filter(({ file }) => dirname(file) === `src/${layer}`)
          .map(
            (cap) =>
              `| \`${cap.name}\` | \`${cap.value}\` | ${cap.why.replaceAll('|', '\\|')} | \`${cap.tests[0] ?? ''}\` |`,
          ),
      ].join('\n'),
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}

function plainComment(comment: string): string {
  return comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/\s*$/, '')
    .replaceAll(/\n\s*\* ?/g, ' ')
    .trim();
}

/** How much of a source file's path a test's path repeats: the test of a module stands where the module does. */
function likeness(test: string, source: string): number {
  const words = new Set(test.split(/[/.-]/));
  return source.split(/[/.-]/).filter((word) => words.has(word)).length;
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .sort();
}
