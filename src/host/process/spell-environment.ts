// An environment as a text that a shell takes it from: every variable arrives as it was given, and none is run.

/**
 * Names that some shell sets, counts or protects itself, or reckons with when they are assigned (bash evaluates what it is
 * told RANDOM is). They are set by `env` behind the shell, where others can see them for a moment; no secret has such a name.
 */
const OF_SHELLS =
  /^(?:_|BASH\w*|COMP_\w+|COPROC|DIRSTACK|E?UID|EPOCH\w+|FUNCNAME|GROUPS|HISTCMD|KSH\w*|LINENO|MAPFILE|OPT(?:ARG|ERR|IND)|PIPESTATUS|PPID|S?RANDOM|READLINE_\w+|REPLY|SECONDS|SHELLOPTS|SHLVL)$/;
/** Where what is handed to a detached program is read from: this text, or what a sandbox is told. */
export const HANDED_FD = 3;
const ENV = '/usr/bin/env';

export interface SpelledEnvironment {
  /** For `.`; all other variables of the shell stay as they are. */
  readonly text: string;
  /** Goes before the program. */
  readonly prefix: readonly string[];
}

/** Names that are no names to a shell are left out; whoever takes them from a request refuses them. */
export function spellEnvironment(env: Readonly<Record<string, string>>): SpelledEnvironment {
  const variables = Object.entries(env).filter(([name]) => /^[A-Za-z_]\w*$/.test(name));
  const special = variables.filter(([name]) => OF_SHELLS.test(name));
  return {
    text: variables
      .filter(([name]) => !OF_SHELLS.test(name))
      .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`)
      .join(''),
    prefix: special.length === 0 ? [] : [ENV, ...special.map(([name, value]) => `${name}=${value}`)],
  };
}
