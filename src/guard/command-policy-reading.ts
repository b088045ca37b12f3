// What a command runs, as far as its words tell: wrappers, shells and changed rights are seen through.

import { basename, normalize, resolve } from 'node:path/posix';
import { isInSystem, type NamedCommand } from './command-policy-pattern.js';
import { readSimpleCommands } from './command-policy-shell-text.js';
import { type ParsedOptions, parseOptions, type Wrapper, wrapperNamed } from './command-policy-wrappers.js';

export interface Command extends NamedCommand {
  readonly kind: 'plain' | 'wrapper' | 'privilege' | 'shell';
  /** The commands it runs, as far as can be seen. Those in the text of a shell are the ones that could be read. */
  readonly inner: readonly Command[];
  /** Of a wrapper: it adds nothing to what its command does. */
  readonly harmless?: boolean;
  /** Why its command cannot be seen, when it has one and it cannot. */
  readonly unseen?: string;
}

export interface Surroundings {
  readonly cwd?: string | undefined;
  /** Names set in the environment of the command. */
  readonly assigned?: readonly string[];
  /** More arguments come once it runs. */
  readonly open?: boolean;
}

/** Programs that run programs, within each other; what is deeper counts as not seen. */
export const MAX_WRAPPERS = 16;
/** In one command, however they are nested: what is read in two ways at every level doubles with each. */
export const MAX_COMMANDS_READ = 2000;
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
/**
 * All that may be set for a command that a rule allows. Nearly every program has variables that make it run other code
 * (NODE_OPTIONS, PYTHONPATH, GIT_CONFIG_COUNT, PAGER, PATH for whatever it starts), no list of them is ever whole, and
 * HOME or XDG_CONFIG_HOME lead to files that say the same; so the list is of those that only change how things look.
 * LANGUAGE is not here: gettext takes a path in it, and with it the formats a program prints with.
 */
const SAFE_VARIABLE =
  /^(LANG|LC_[A-Z]+|TERM|COLORTERM|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|CI)$/;
/** Where `find`, and `xargs` when it is asked to, put what they have found. */
const PLACE = '{}';
const GIVEN_LATER = 'it is given only when it runs';
const RUNS_IN_FIND = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** Reads `argv` without touching the machine: symbolic links, aliases and what programs do later are beyond it. */
export function readCommand(argv: readonly string[], around: Surroundings = {}): Command {
  return read(argv, around, 0, { left: MAX_COMMANDS_READ });
}

function read(
  argv: readonly string[],
  around: Surroundings,
  depth: number,
  budget: { left: number },
): Command {
  const given = argv[0] ?? '';
  const program = given.includes('/') ? normalize(resolveIn(around.cwd, given)) : given;
  const base = basename(program);
  const assigned = around.assigned ?? [];
  const untouched = assigned.every((name) => SAFE_VARIABLE.test(name));
  const trusted = untouched && (!given.includes('/') || isInSystem(program));
  const open = around.open === true;
  const command = { argv, program, base, trusted, untouched, open };
  if (budget.left <= 0) return { ...command, kind: 'plain', inner: [], unseen: 'too many commands in one' };
  budget.left -= 1;
  if (depth >= MAX_WRAPPERS)
    return { ...command, kind: 'plain', inner: [], unseen: 'wrapped too many times' };

  const within: Within = (words, more = {}) =>
    read(words, { ...around, ...more, assigned: [...assigned, ...(more.assigned ?? [])] }, depth + 1, budget);

  if (SHELLS.has(base)) {
    const simple = readSimpleCommands(shellText(argv.slice(1)));
    // It may have gone to any folder before it runs them.
    const inner = simple.map(({ words, assigned }) => within(words, { assigned, cwd: undefined }));
    return { ...command, kind: 'shell', inner };
  }
  if (PRIVILEGED.has(base)) return { ...command, kind: 'privilege', inner: [], unseen: `run by ${base}` };
  if (base === 'find') return { ...command, kind: 'plain', ...readFind(argv, open, within) };
  const wrapper = wrapperNamed(base);
  if (wrapper === undefined) return { ...command, kind: 'plain', inner: [] };
  return { ...command, ...readWrapped(wrapper, argv, around, within) };
}

type Within = (words: readonly string[], more?: Surroundings) => Command;
type Inside = Pick<Command, 'inner' | 'unseen'>;

function readWrapped(
  wrapper: Wrapper,
  argv: readonly string[],
  around: Surroundings,
  within: Within,
): Inside & Pick<Command, 'kind' | 'harmless'> {
  const kind = wrapper.privilege === true ? 'privilege' : 'wrapper';
  const parsed = parseOptions(wrapper, argv.slice(1));
  if ('unknown' in parsed) return { kind, inner: [], unseen: `behind the option ${parsed.unknown}` };
  const given = (options: readonly string[] = []): string[] =>
    options.filter((each) => parsed.options.has(each));
  // An option that changes the code counts as a variable that does.
  const assigned = wrapper.changesCode === true ? ['chroot'] : given(wrapper.changesCode);
  const words = parsed.rest.slice(wrapper.operands ?? 0);
  while (wrapper.assigns === true && words[0]?.includes('=') === true) {
    assigned.push(words.shift()?.split('=', 1)[0] ?? '');
  }
  const run = commandOf(wrapper, parsed, words);
  const harmless = wrapper.harmless && given(wrapper.harmfulWith).length === 0;
  const cwd = given(wrapper.movesTo).reduce(
    (from, option) => moveTo(from, parsed.values.get(option) ?? ''),
    around.cwd,
  );
  if (run !== undefined && wrapper.addsArguments !== undefined) {
    const places = given(wrapper.addsArguments).map((each) => parsed.values.get(each) ?? PLACE);
    return { kind, harmless, ...readWithPlaces(run, places, { assigned, open: true }, within) };
  }
  if (run !== undefined) return { kind, harmless, inner: [within(run, { assigned, cwd })] };
  if (around.open === true) return { kind, harmless: false, inner: [], unseen: GIVEN_LATER };
  // Without a command `env` and its like do something of their own.
  return { kind: kind === 'privilege' ? kind : 'plain', inner: [] };
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

/**
 * A command in whose words something else will stand for `places`. It is read twice: as it is written, since a text for
 * a shell still says most of what it does, and up to the first such word, since what comes after may be anything.
 */
function readWithPlaces(
  words: readonly string[],
  places: readonly string[],
  around: Surroundings,
  within: Within,
): Inside {
  const at = words.findIndex((word) => places.some((place) => word.includes(place)));
  if (at === 0) return { inner: [], unseen: GIVEN_LATER };
  const written = within(words, around);
  return { inner: at === -1 ? [written] : [written, within(words.slice(0, at), { ...around, open: true })] };
}

/** What comes later to `find` itself may be one more `-exec`. */
function readFind(argv: readonly string[], open: boolean, within: Within): Inside {
  const moves = argv.some((word) => word === '-execdir' || word === '-okdir');
  const around = { open: false, ...(moves && { cwd: undefined }) };
  const found = findCommands(argv).map((words) => readWithPlaces(words, [PLACE], around, within));
  const unseen = open ? GIVEN_LATER : found.find((each) => each.unseen !== undefined)?.unseen;
  return { inner: found.flatMap((each) => each.inner), ...(unseen !== undefined && { unseen }) };
}

/** `find … -exec rm {} ;` runs rm. What looks like an `-exec` within the words of another is an argument of that one. */
function findCommands(argv: readonly string[]): string[][] {
  const commands: string[][] = [];
  for (let at = 1; at < argv.length; at++) {
    if (!RUNS_IN_FIND.has(argv[at] ?? '')) continue;
    const from = at + 1;
    for (at = from; at < argv.length; at++) {
      if (argv[at] === ';' || (argv[at] === '+' && argv[at - 1] === PLACE)) break;
    }
    if (at > from) commands.push(argv.slice(from, at));
  }
  return commands;
}

/** A folder from one that may not be known. */
function moveTo(from: string | undefined, folder: string): string | undefined {
  if (from === undefined) return folder.startsWith('/') ? normalize(folder) : undefined;
  return resolve(from, folder);
}

function resolveIn(cwd: string | undefined, program: string): string {
  return cwd === undefined ? program : resolve(cwd, program);
}
