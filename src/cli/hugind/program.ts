// The command line of hugind: the bridge, or one method of it by its noun and verb.

import { nearest } from '../../base/nearest.js';
import { VERSION } from '../../base/version.js';
import { EarlyOutput } from '../early-output.js';
import { EXIT } from '../exit-codes.js';
import { helpText, UsageError } from '../flags.js';
import { leave } from '../leave.js';
import { readWords } from './read-words.js';
import { NOUNS, USAGE, usageOf, VERBS } from './verbs.js';

export async function runHugind(args: readonly string[]): Promise<void> {
  const [noun = '', verb = ''] = args;
  const known = VERBS.some((row) => row.noun === noun && row.verb === verb);
  await leave('hugind', () => main(args), known ? `hugind ${noun} ${verb} --help` : 'hugind --help');
}

async function main(args: readonly string[]): Promise<number> {
  const [noun = '', verb = '', ...rest] = args;
  if (noun === '' || noun === 'help' || noun.startsWith('-')) return await explain(args);
  if (noun === 'stdio') {
    const { flags, words } = readWords(usageOf('stdio'), args.slice(1));
    if (flags.has('help')) return await print(helpText(usageOf('stdio')));
    if (words[0] !== undefined) throw new UsageError(`unexpected argument "${words[0]}"`);
    return await (await import('./stdio.js')).serveStdio();
  }
  const rows = VERBS.filter((row) => row.noun === noun);
  if (rows.length === 0) throw new UsageError(`unknown command "${noun}"${suggest(noun, NOUNS)}`);
  if (verb === '' || verb === '--help' || verb === '-h' || verb === 'help') {
    const said = await print(helpText(usageOf(noun)));
    if (verb === '')
      throw new UsageError(`hugind ${noun}: which of ${rows.map((row) => row.verb).join(', ')}?`);
    return said;
  }
  const row = rows.find((each) => each.verb === verb);
  if (row === undefined)
    throw new UsageError(
      `unknown command "${noun} ${verb}"${suggest(
        verb,
        rows.map((each) => each.verb),
      )}`,
    );
  const { flags, words } = readWords(usageOf(noun, verb), rest);
  if (flags.has('help')) return await print(helpText(usageOf(noun, verb)));
  return await (await import('./run-verb.js')).runVerb(row, words, flags);
}

async function explain(args: readonly string[]): Promise<number> {
  const [first = '', ...rest] = args;
  if (first === 'help' && rest[0] !== undefined && NOUNS.includes(rest[0]))
    return await print(helpText(usageOf(rest[0], rest[1])));
  const { flags } = readWords(USAGE, first === 'help' ? [] : args);
  if (flags.has('version')) return await print(`hugind ${VERSION}`);
  if (flags.has('help') || first === 'help') return await print(helpText(USAGE));
  throw new UsageError(`which command? There are ${NOUNS.join(', ')}`);
}

function suggest(word: string, known: readonly string[]): string {
  const close = nearest(word, known);
  return close === undefined ? '' : `; did you mean ${close}?`;
}

async function print(text: string): Promise<number> {
  await new EarlyOutput().write('stdout', Buffer.from(`${text}\n`));
  return EXIT.ok;
}
