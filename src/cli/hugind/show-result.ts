// Results of the bridge for people; `--json` has them as they are.

import type { Result } from '../../hugind/call.js';
import type { MethodName } from '../../hugind/protocol.js';
import { printableLines } from '../colours.js';
import { sayBytes } from './say-bytes.js';

type Shown = Readonly<Record<string, unknown>>;
type Shower<Name extends MethodName> = (result: Result<Name>) => string;

const SHOWERS: { readonly [Name in MethodName]?: Shower<Name> } = {
  'model.list': ({ repos }) =>
    rows(
      repos.map(({ name, path }) => [name, path]),
      'no models yet: hugind model add USER/REPO FILE',
    ),
  'model.show': ({ files }) =>
    rows(
      files.map(({ name, size_bytes: size }) => [name, sayBytes(size)]),
      'no files',
    ),
  'model.add': ({ repo, files }) => files.map((file) => `${repo}/${file}`).join('\n'),
  'model.remove': ({ repo, deleted_files: files, deleted_repo: whole }) =>
    [...files.map((file) => `removed ${repo}/${file}`), ...(whole ? [`removed ${repo}`] : [])].join('\n') ||
    'nothing removed',
  'config.list': ({ configs }) =>
    rows(
      configs.map(({ name, path }) => [name, path]),
      'no configs yet: hugind config init NAME MODEL',
    ),
  'config.validate': ({ valid, errors = [], warnings = [] }) =>
    [
      valid ? 'valid' : 'not valid',
      ...errors.map(({ path, message }) => `  ${path === undefined ? '' : `${path}: `}${message}`),
      ...warnings.map(({ path, message }) => `  ${path}: ${message}`),
    ].join('\n'),
  'config.info': (info) =>
    rows(
      Object.entries(info).map(([key, value]) => [key, sayFact(key, value)]),
      '',
    ),
  'config.remove': ({ removed, path }) => (removed ? `removed ${path}` : 'there is no such config'),
  'config.defaults': ({ settings }) =>
    rows(
      settings.map(({ key, value }) => [key, value]),
      'nothing is set',
    ),
  'config.init': ({ path, ctx, n_slots: slots, kv_bytes: kv, fit }) =>
    `${path}\n${slots} sequences of ${ctx} tokens, ${sayBytes(kv)} for their caches${fit.fits ? '' : '; more than is free here'}`,
};

export function showResult(name: string, result: Shown): string {
  const show = SHOWERS[name as MethodName] as ((result: Shown) => string) | undefined;
  return printableLines(show === undefined ? JSON.stringify(result, undefined, 2) : show(result));
}

function rows(cells: readonly (readonly [string, string])[], none: string): string {
  const width = Math.max(0, ...cells.map(([left]) => left.length));
  return cells.length === 0
    ? none
    : cells.map(([left, right]) => `${left.padEnd(width)}  ${right}`).join('\n');
}

function sayFact(key: string, value: unknown): string {
  if (typeof value === 'number') return key.endsWith('_bytes') ? sayBytes(value) : String(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
