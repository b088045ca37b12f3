// Which commands may run. A policy, not a sandbox: it judges the words of a command, not what the program then does.

import { COMMAND_CLASSES, type CommandClass } from './command-classes.js';
import {
  type CommandPattern,
  CommandRuleError,
  type CompiledPattern,
  compilePattern,
  MAX_RULES,
  matchesNarrowly,
  matchesWidely,
} from './command-policy-pattern.js';
import { readPlainCommands } from './command-policy-plain-text.js';
import { type Command, readCommand } from './command-policy-reading.js';

export interface CommandRules {
  /** When not empty, only these run. */
  readonly allow?: readonly CommandPattern[];
  /** These never run, whatever else is said, also inside wrappers and in what can be read of a shell text. */
  readonly deny?: readonly CommandPattern[];
  /** When given, only these run under sudo and its like (an empty list: none). */
  readonly sudo?: readonly CommandPattern[];
  /** Without a shell, neither `shell: true` nor `sh` in an argv runs. Default true. */
  readonly allowShell?: boolean;
  /** When given, only commands of these classes run. */
  readonly classes?: readonly CommandClass[];
}

export type CommandRequest = CommandSettings &
  ({ readonly argv: readonly string[] } | { readonly shell: true; readonly command: string });

interface CommandSettings {
  /** Where a program given by a relative path is looked for. */
  readonly cwd?: string | undefined;
  /** What is set for the command beyond the server's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export type CommandDecision =
  | { readonly allowed: true; readonly class: CommandClass }
  | { readonly allowed: false; readonly class: CommandClass; readonly rule: string; readonly reason: string };

/**
 * Programs no argument of which makes them write, run or fetch anything. The list is short because that is rarely so
 * (`sort -o`, `find -delete`, `git` with its hooks); a program that is not here counts as writing.
 */
const READ_ONLY = new Set(
  `arch basename cat cksum cmp comm cut df dirname du echo egrep env expand expr false fgrep fold getconf grep groups head
  id join ls md5sum nl nproc od paste pgrep printenv printf ps pwd readlink realpath rev seq sha1sum sha256sum sha512sum
  sleep stat sum tac tail test tr true tsort tty uname unexpand uptime wc whereis which whoami [`.split(
    /\s+/,
  ),
);

export class CommandPolicy {
  readonly #allow: readonly CompiledPattern[];
  readonly #deny: readonly CompiledPattern[];
  readonly #sudo: readonly CompiledPattern[] | undefined;
  readonly #allowShell: boolean;
  readonly #classes: ReadonlySet<CommandClass> | undefined;
  readonly #restricts: boolean;

  /** Throws a CommandRuleError that names the rule it cannot use. */
  constructor(rules: CommandRules = {}) {
    this.#allow = compileAll('allow', rules.allow ?? []);
    this.#deny = compileAll('deny', rules.deny ?? []);
    this.#sudo = rules.sudo === undefined ? undefined : compileAll('sudo', rules.sudo);
    this.#allowShell = rules.allowShell ?? true;
    this.#classes = rules.classes === undefined ? undefined : checkClasses(rules.classes);
    this.#restricts =
      this.#allow.length + this.#deny.length > 0 ||
      this.#sudo !== undefined ||
      !this.#allowShell ||
      this.#classes !== undefined;
  }

  /** Pure: the same request always gets the same answer, and nothing on the machine is looked at. */
  decide(request: CommandRequest): CommandDecision {
    const argv = 'argv' in request ? request.argv : ['sh', '-c', request.command];
    const odd = oddity(argv);
    if (odd !== undefined) return { allowed: false, class: 'write', rule: 'argv', reason: odd };
    const settings = { cwd: request.cwd, assigned: Object.keys(request.env ?? {}) };
    const command = readCommand(argv, settings);
    const found = classOf(command);
    // A list of allowed commands says nothing of shells; but of a plain text every command can be held against it.
    const plain = 'argv' in request || !this.#allowShell ? undefined : readPlainCommands(request.command);
    const refusal = this.#refuse(
      command,
      found,
      plain?.map((words) => readCommand(words, settings)),
    );
    return refusal === undefined
      ? { allowed: true, class: found }
      : { allowed: false, class: found, ...refusal };
  }

  /** `plain` are the commands of a text for a shell, where they can all be seen. */
  #refuse(
    command: Command,
    found: CommandClass,
    plain: readonly Command[] | undefined,
  ): { rule: string; reason: string } | undefined {
    const seen = everyCommand(command);
    for (const each of seen) {
      const rule = this.#deny.find((pattern) => matchesWidely(pattern, each));
      if (rule !== undefined) return { rule: `deny ${quote(rule)}`, reason: `${each.base} is denied` };
    }
    if (!this.#allowShell && seen.some((each) => each.kind === 'shell'))
      return { rule: 'allow_shell', reason: 'commands for a shell are not allowed' };
    if (this.#restricts) {
      const blind = outsideShells(command).find(
        (each) => each.unseen !== undefined && !this.#isCovered(each),
      );
      if (blind !== undefined)
        return {
          rule: 'wrapper',
          reason: `the command that ${blind.base} runs cannot be seen: ${blind.unseen ?? ''}`,
        };
    }
    const raised =
      this.#sudo === undefined
        ? undefined
        : seen.find((each) => each.kind === 'privilege' && !this.#maySudo(each));
    if (raised !== undefined)
      return { rule: 'sudo', reason: `${raised.base} may not run ${raised.inner[0]?.base ?? 'this'}` };
    if (this.#classes !== undefined && !this.#classes.has(found))
      return { rule: 'classes', reason: `commands of the class ${found} are not allowed` };
    if (this.#allow.length > 0) {
      const unlisted = this.#notAllowed(command);
      // A list that has the shell itself allows all of its texts; else each command of a plain one must be on it.
      const stranger = unlisted && plain ? first(plain, (each) => this.#notAllowed(each)) : unlisted;
      if (stranger !== undefined) return { rule: 'allow', reason: describeStranger(stranger) };
    }
    return undefined;
  }

  /** The part of a command that no rule allows. A wrapper is as allowed as what it wraps; other rights need a rule of their own. */
  #notAllowed(command: Command): Command | undefined {
    // One in the system's folders, that is: any file can be called `env`.
    if (command.kind === 'wrapper' && command.trusted)
      return first(command.inner, (inner) => this.#notAllowed(inner));
    if (command.kind === 'privilege' && this.#sudo !== undefined) return undefined; // judged by the list for sudo
    if (!this.#allow.some((pattern) => matchesNarrowly(pattern, command))) return command;
    return command.kind === 'plain' ? first(command.inner, (inner) => this.#notAllowed(inner)) : undefined;
  }

  #maySudo(command: Command): boolean {
    const matches = (inner: Command): boolean =>
      this.#sudo?.some((pattern) => matchesNarrowly(pattern, inner)) === true ||
      (inner.kind === 'wrapper' && inner.inner.length > 0 && inner.inner.every(matches));
    return command.trusted && command.inner.length > 0 && command.inner.every(matches);
  }

  /** An allow rule for the wrapper itself accepts what is behind it, unless something there would have to be refused. */
  #isCovered(command: Command): boolean {
    const mayHide = this.#deny.length === 0 && this.#allowShell;
    return (
      mayHide &&
      command.kind === 'privilege' &&
      this.#allow.some((pattern) => matchesNarrowly(pattern, command))
    );
  }
}

function compileAll(list: string, patterns: readonly CommandPattern[]): CompiledPattern[] {
  if (patterns.length > MAX_RULES) throw new CommandRuleError(list, `more than ${MAX_RULES} rules`);
  // Sorted, so that the rule named by a decision does not depend on the order they were written in.
  return patterns
    .map((pattern, i) => compilePattern(pattern, `${list}[${i}]`))
    .sort((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)));
}

function checkClasses(classes: readonly CommandClass[]): ReadonlySet<CommandClass> {
  const stray = classes.find((each) => !COMMAND_CLASSES.includes(each));
  if (stray !== undefined) throw new CommandRuleError('classes', `no class ${JSON.stringify(stray)}`);
  return new Set(classes);
}

function oddity(argv: readonly string[]): string | undefined {
  if (argv.length === 0 || argv[0] === '') return 'names no program';
  const at = argv.findIndex((word) => word.includes('\0'));
  return at === -1 ? undefined : `argument ${at} holds a NUL byte, which no program can be given`;
}

function classOf(command: Command): CommandClass {
  const all = everyCommand(command);
  if (all.some((each) => each.kind === 'privilege')) return 'privileged';
  if (all.some((each) => each.kind === 'shell')) return 'shell';
  const reads = (each: Command): boolean =>
    each.trusted &&
    each.unseen === undefined &&
    (each.kind === 'wrapper' ? each.harmless === true : READ_ONLY.has(each.base));
  return all.every(reads) ? 'read-only' : 'write';
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.inner.flatMap(everyCommand)];
}

/** The text of a shell is read as far as it goes; that some of it cannot be is no reason to refuse. */
function outsideShells(command: Command): Command[] {
  return command.kind === 'shell' ? [] : [command, ...command.inner.flatMap(outsideShells)];
}

function first(
  commands: readonly Command[],
  find: (command: Command) => Command | undefined,
): Command | undefined {
  for (const command of commands) {
    const found = find(command);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describeStranger(command: Command): string {
  if (command.kind === 'shell')
    return `${command.base} is not on the list of allowed commands, and only plain texts for it can be seen into`;
  const why = command.trusted ? '' : ' (by this path, or with what is set for it)';
  return `${command.base} is not on the list of allowed commands${why}`;
}

function quote(pattern: CompiledPattern): string {
  return pattern.text.startsWith('[') ? pattern.text : JSON.stringify(pattern.text);
}
