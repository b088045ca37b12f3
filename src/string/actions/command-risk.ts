// Where a value would be read as code although it is quoted: by eval, by a second shell, by arithmetic, by an interpreter.

/**
 * `number`: bash calculates with it. `name`: it names a variable. `shell`: a shell reads it once more. `code`: it becomes
 * part of a program.
 */
export type Risk = 'number' | 'name' | 'subscript' | 'shell' | 'code';

const SHELLS = /(?:^|\/)(?:ba|da|z|k|a|c|tc|fi)?sh$/u;
const INTERPRETERS =
  /(?:^|\/)(?:python[\d.]*|node|nodejs|deno|bun|perl[\d.]*|ruby|php|lua|Rscript|osascript)$/u;
const PROGRAMS = /(?:^|\/)(?:g|m|n)?(?:awk|sed)$/u;
const CODE_OPTION = /^(?:-[A-Za-z]*[cepEr]|--(?:eval|print|command|execute)|eval)$/u;
/** Those that hand a command line to a shell, wherever their -c stands. */
const SHELL_RUNNERS = new Set(['su', 'runuser', 'flock', 'script']);
const NAMES = new Set([
  'declare',
  'typeset',
  'local',
  'readonly',
  'export',
  'unset',
  'read',
  'mapfile',
  'readarray',
  'getopts',
]);
const KEYWORDS = new Set(['if', 'then', 'else', 'elif', 'do', 'while', 'until', 'time', '!', '{']);
const CALCULATES = /\s-(?:eq|ne|lt|le|gt|ge|v)\s/u;
/** The value itself is calculated with: names would be looked up, and what they stand for calculated in turn. */
const COMPARISON = /^-(?:eq|ne|lt|le|gt|ge)$/u;
const COMPARED = /^[^\s]*["']?\s+-(?:eq|ne|lt|le|gt|ge)\s/u;
/** `-e'code'`, `--eval='code'`. */
const ATTACHED_CODE = /^(?:-[A-Za-z]*[ceEr].|--(?:eval|print|command|execute|expression)=)/su;

/**
 * Of a value in the word that has begun with `begun`, after these words of the same command; `after` is what follows in
 * the text.
 */
export function findRisk(before: readonly string[], begun: string, after: string): Risk | undefined {
  const words = withoutKeywords(before);
  const last = words.at(-1) ?? '';
  if (words.includes('eval') || words[0] === 'trap') return 'shell';
  if (words[0] === 'let' || (words.length === 0 && /^[A-Za-z_]\w*\[/u.test(begun))) return 'number';
  if (words[0] === '[[') {
    if (COMPARISON.test(last) || COMPARED.test(after)) return 'number';
    return calculates(words, after) ? 'subscript' : undefined;
  }
  if (last === '-v' && words.some((each) => ['test', '[', 'printf'].includes(each))) return 'name';
  if (words.some((each) => NAMES.has(each))) {
    if (!begun.includes('=')) return 'name';
    if (words.some((each) => /^-[A-Za-z]*[in]/u.test(each))) return 'number'; // of an integer, or by another's name
  }
  if (words.some((each) => each === 'ssh' || each.endsWith('/ssh'))) return 'shell';
  if (runsShell(words)) return 'shell';
  if (CODE_OPTION.test(last) && runsCode(words.slice(0, -1))) return 'code';
  if (ATTACHED_CODE.test(begun) && runsCode(words)) return 'code';
  const program = words.findIndex((each) => PROGRAMS.test(each));
  if (program !== -1 && (ATTACHED_CODE.test(begun) || isProgramText(words.slice(program + 1)))) return 'code';
  return undefined;
}

/** What follows the options of a shell is its program when -c is one of them, however they are put together. */
function runsShell(words: readonly string[]): boolean {
  if (words.some((each) => SHELL_RUNNERS.has(each)) && /^-[A-Za-z]*c$|^--command$/u.test(words.at(-1) ?? ''))
    return true;
  const shell = words.findLastIndex((each) => SHELLS.test(each));
  const options = words.slice(shell + 1);
  return shell !== -1 && options.some((each) => /^-[A-Za-z]*c/u.test(each)) && areOptions(options);
}

function areOptions(words: readonly string[]): boolean {
  return words.every(
    (each, at) => /^[-+]/u.test(each) || /^[-+][A-Za-z]*[oOWXIm]$/u.test(words[at - 1] ?? ''),
  );
}

/** Between an interpreter and its -c are only options: after a script, -c is one of the script. */
function runsCode(words: readonly string[]): boolean {
  const runner = words.findLastIndex((each) => INTERPRETERS.test(each));
  return runner !== -1 && areOptions(words.slice(runner + 1));
}

/** awk and sed take the first operand for their program, or whatever follows -e. */
function isProgramText(words: readonly string[]): boolean {
  const last = words.at(-1) ?? '';
  if (/^-[a-zA-Z]*[vFf]$/u.test(last)) return false;
  if (/^(?:-[a-zA-Z]*e|--expression)$/u.test(last)) return true;
  return words.every((each, at) => each.startsWith('-') || /^-[vF]$/u.test(words[at - 1] ?? ''));
}

function calculates(words: readonly string[], after: string): boolean {
  const [inside = ''] = after.split(']]', 1);
  return CALCULATES.test(`${words.join(' ')} ${inside} `);
}

/** What may stand there all the same: nothing that any of these languages reads as more than a word. */
const HARMLESS: Readonly<Record<Risk, RegExp>> = {
  number: /^-?\d{0,18}$/u,
  name: /^\w*$/u,
  subscript: /^[^[]*$/u,
  shell: /^[\p{L}\p{N}_ .,:@%+=/-]*$/u,
  code: /^[\p{L}\p{N}_ .,:@%+=-]*$/u,
};

const WHY: Readonly<Record<Risk, string>> = {
  number: 'bash calculates with it, so that it has to be a whole number',
  name: 'it names a variable there, so that only letters, digits and _ can be used',
  subscript: 'bash calculates with it, so that it cannot have a [',
  shell:
    'a shell would read it once more, so that only letters, digits, blanks and . , : @ % + = / - can be used',
  code: 'it would become part of a program there, so that only letters, digits, blanks and . , : @ % + = - can be used',
};

/** Undefined when the value may stand there, else why not. */
export function refuseRisk(risk: Risk, value: string): string | undefined {
  return HARMLESS[risk].test(value) ? undefined : WHY[risk];
}

function withoutKeywords(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !KEYWORDS.has(word));
  return first === -1 ? [] : words.slice(first);
}
