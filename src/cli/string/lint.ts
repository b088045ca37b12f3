// `string lint FILE…`: what is wrong with a document, line by line. Nothing of it is run, and no daemon is asked.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { toError } from '../../base/errors.js';
import { MAX_DOCUMENT_BYTES } from '../../string/files/load-document.js';
import { parsePage } from '../../string/document/page.js';
import type { Finding } from '../../string/lint/finding.js';
import { lintDocument } from '../../string/lint/lint-document.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import type { StringCommand } from './command.js';

type FileFinding = { readonly file: string } & Finding;

export const lintCommand: StringCommand = async (context, [, ...rest]) => {
  const json = context.json || rest.includes('--json');
  const files = rest.filter((word) => word !== '--json');
  const unknown = files.find((word) => word.startsWith('-'));
  if (unknown !== undefined) throw new UsageError(`unknown option ${unknown}`);
  if (files.length === 0) throw new UsageError('string lint FILE…: which document?');
  const findings = files.flatMap((file) => lintFile(file));
  if (json) await context.print(JSON.stringify({ ok: findings.length === 0, findings }));
  else await context.print(describe(files, findings));
  return findings.length === 0 ? EXIT.ok : EXIT.failed;
};

/** One that cannot be read is a finding like others: what is wrong with the rest is told as well. */
function lintFile(file: string): FileFinding[] {
  const source = read(file);
  if (typeof source !== 'string') return [{ file, ...source }];
  const findings = [...lintDocument(source), ...missingFiles(file, source)];
  return findings.sort((one, other) => one.line - other.line).map((finding) => ({ file, ...finding }));
}

/** What a document names must be beside it; what is on the web is not asked. */
function missingFiles(file: string, source: string): Finding[] {
  return parsePage(source).directives.flatMap(({ kind, path, line, name }): Finding[] => {
    if (path === '' || /^[a-z][\w+.-]*:/iu.test(path) || path.startsWith('~')) return [];
    if (existsSync(resolve(dirname(file), decode(path)))) return [];
    return [
      { line, code: 'NOT_FOUND', message: `[!${kind}${name === '' ? '' : `:${name}`}]: there is no ${path}` },
    ];
  });
}

function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function read(file: string): string | Finding {
  const unreadable = (why: string): Finding => ({
    line: 1,
    code: 'LOAD_ERROR',
    message: `cannot read it: ${why}`,
  });
  try {
    const stat = statSync(file);
    if (!stat.isFile()) return unreadable('not a file');
    if (stat.size > MAX_DOCUMENT_BYTES) return unreadable(`larger than ${MAX_DOCUMENT_BYTES} bytes`);
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing
      ? { line: 1, code: 'NOT_FOUND', message: 'there is no such file' }
      : unreadable(toError(thrown).message);
  }
}

/** `file:line: CODE: what is wrong`, as editors know it. */
function describe(files: readonly string[], findings: readonly FileFinding[]): string {
  if (findings.length === 0) return `${files.join(', ')}: nothing found`;
  return findings.map(({ file, line, code, message }) => `${file}:${line}: ${code}: ${message}`).join('\n');
}
