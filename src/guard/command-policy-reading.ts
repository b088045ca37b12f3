// What a command runs, as far as its words tell: wrappers, shells and changed rights are seen through.

import { basename, dirname, normalize, resolve } from 'node:path/posix';
import type { NamedCommand } from './command-policy-pattern.js';
import { readSimpleCommands } from './command-policy-shell-text.js';
import { type ParsedOptions, parseOptions, type Wrapper, wrapperNamed } from './command-policy-wrappers.js';

export interface Command extends NamedCommand {
  readonly kind: 'plain' | 'wrapper' | 'privilege' | 'shell';
  /** The commands it runs, as far as can be seen. Those in the text of a shell are the ones that could be read. */
  readonly inner: readonly Command[];
  /** Why its command cannot be seen, when it has one and it cannot. */
  readonly unseen?: string;
}

export interface Surroundings {
  readonly cwd?: string | undefined;
  /** Names set in the environment of the command. */
  readonly assigned?: readonly string[];
}

const MAX_WRAPPERS = 16;
const SHELLS = new Set(
  'sh ash bash dash rbash zsh ksh ksh93 mksh pdksh yash posh fish csh tcsh hush elvish nu pwsh'.split(' '),
);
/** Other ways to other rights, whose command is not looked for. */
const PRIVILEGED = new Set([
  'sudoedit',
  'run0',
  'setpriv',
  'nsenter',
  'unshare',
  'systemd-run',
  'machinectl',
]);
const SYSTEM_FOLDERS = new Set(
  ['', '/usr', '/usr/local', '/opt/homebrew', '/run/current-system/sw'].flatMap((root) => [
    `${root}/bin`,
    `${root}/sbin`,
  ]),
);
/** Set for a command, these make it run other code than its own. PATH does so too, but not for what is given by path. */
const CHANGES_CODE = /^(ENV|BASH_ENV|LD_.*|DYLD_.*)$/;
const RUNS_IN_FIND = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** Reads `argv` without touching the machine: symbolic links, aliases and what programs do later are beyond it. */
export function readCommand(argv: readonly string[], around: Surroundings = {}, depth = 0): Command {
  const given = argv[0] ?? '';
  const program = given.includes('/') ? normalize(resolveIn(around.cwd, given)) : given;
  const base = basename(program);
  const assigned = around.assigned ?? [];
  const untouched = !assigned.some((name) => CHANGES_CODE.test(name));
  const trusted =
    (!given.includes('/') || SYSTEM_FOLDERS.has(dirname(program))) && untouched && !assigned.includes('PATH');
  const command = { argv, program, base, trusted, untouched };
  if (depth >= MAX_WRAPPERS)
    return { ...command, kind: 'plain', inner: [], unseen: 'wrapped too many times' };

  const within = (words: readonly string[], more: readonly string[] = []): Command =>
    readCommand(words, { ...around, assigned: [...assigned, ...more] }, depth + 1);

  if (SHELLS.has(base)) {
    const simple = readSimpleCommands(shellText(argv.slice(1)));
    return { ...command, kind: 'shell', inner: simple.map(({ words, assigned }) => within(words, assigned)) };
  }
  if (PRIVILEGED.has(base)) return { ...command, kind: 'privilege', inner: [], unseen: `run by ${base}` };
  if (base === 'find')
    return { ...command, kind: 'plain', inner: findCommands(argv).map((words) => within(words)) };
  const wrapper = wrapperNamed(base);
  if (wrapper === undefined) return { ...command, kind: 'plain', inner: [] };
  return { ...command, ...readWrapped(wrapper, argv, within) };
}

type Within = (words: readonly string[], assigned?: readonly string[]) => Command;

function readWrapped(
  wrapper: Wrapper,
  argv: readonly string[],
  within: Within,
): Pick<Command, 'kind' | 'inner' | 'unseen'> {
  const around = wrapper.privilege === true ? 'privilege' : 'wrapper';
  const parsed = parseOptions(wrapper, argv.slice(1));
  if ('unknown' in parsed) return { kind: around, inner: [], unseen: `behind the option ${parsed.unknown}` };
  const assigned: string[] = [];
  const words = parsed.rest.slice(wrapper.operands ?? 0);
  while (wrapper.assigns === true && words[0]?.includes('=') === true) {
    assigned.push(words.shift()?.split('=', 1)[0] ?? '');
  }
  const run = commandOf(wrapper, parsed, words);
  if (run !== undefined) return { kind: around, inner: [within(run, assigned)] };
  // Without a command `env` and its like do something of their own.
  return { kind: around === 'privilege' ? around : 'plain', inner: [] };
}

function commandOf(
  wrapper: Wrapper,
  parsed: ParsedOptions,
  words: readonly string[],
): readonly string[] | undefined {
  const text = wrapper.textIn
    ?.map((option) => parsed.values.get(option))
    .find((value) => value !== undefined);
  if (text !== undefined) return ['sh', '-c', text];
  if (wrapper.shellOn?.some((option) => parsed.options.has(option)) === true || words.length === 0) {
    if (words.length > 0) return ['sh', '-c', words.join(' ')];
    const startsShell =
      wrapper.shellAlone === true || wrapper.shellOn?.some((option) => parsed.options.has(option));
    return startsShell === true ? ['sh'] : undefined;
  }
  if (wrapper.joinsUnless !== undefined && !parsed.options.has(wrapper.joinsUnless))
    return ['sh', '-c', words.join(' ')];
  return words;
}

/** The text behind `-c` (also `-lc`, `-o pipefail -c`), or nothing: a script and standard input are not read. */
function shellText(args: readonly string[]): string {
  let hasText = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (!/^[-+]./.test(arg) || arg === '--') return hasText ? (args[arg === '--' ? i + 1 : i] ?? '') : '';
    if (arg.startsWith('--')) {
      if (arg === '--command') hasText = true;
      if (arg === '--rcfile' || arg === '--init-file') i += 1;
      continue;
    }
    if (arg.includes('c')) hasText = true;
    if (/^[-+][A-Za-z]*[oO]$/.test(arg)) i += 1; // its value: `-o pipefail`
  }
  return '';
}

/** `find … -exec rm {} ;` runs rm. */
function findCommands(argv: readonly string[]): string[][] {
  return argv.flatMap((word, at) => {
    if (!RUNS_IN_FIND.has(word)) return [];
    const rest = argv.slice(at + 1);
    const end = rest.findIndex((later) => later === ';' || later === '+');
    const words = end === -1 ? rest : rest.slice(0, end);
    return words.length > 0 ? [words] : [];
  });
}

function resolveIn(cwd: string | undefined, program: string): string {
  return cwd === undefined ? program : resolve(cwd, program);
}
