// Programs that run the command they are given: how to find that command among their arguments.

export interface Wrapper {
  /** It does nothing of its own that outlasts the command: writes no file, brings no arguments from elsewhere. */
  readonly harmless: boolean;
  /** Options with which it is not. */
  readonly harmfulWith?: readonly string[];
  /** Short options without a value. */
  readonly flags?: string;
  /** Short options with one. */
  readonly valued?: string;
  /** Short options whose value, if any, is attached. */
  readonly attached?: string;
  readonly long?: readonly string[];
  readonly longValued?: readonly string[];
  /** `-10` is an option. */
  readonly numeric?: true;
  /** Arguments between the options and the command. */
  readonly operands?: number;
  /** `NAME=value` before the command. */
  readonly assigns?: true;
  /** The command runs with other rights. */
  readonly privilege?: true;
  /** An option whose value is text for a shell. */
  readonly textIn?: readonly string[];
  /** Options that hand the command, or the lack of one, to a shell. */
  readonly shellOn?: readonly string[];
  /** With no command at all it starts a shell. */
  readonly shellAlone?: true;
  /** The words after the options are joined and given to a shell, unless this option is there. */
  readonly joinsUnless?: string;
  /** Options may also follow the operands. */
  readonly permutes?: true;
  /** Options that make the command run other code than its own, as variables can; `true` when it always does. */
  readonly changesCode?: readonly string[] | true;
  /** Options with the folder the command runs in. */
  readonly movesTo?: readonly string[];
  /** More arguments come once it runs: at the end, or where the value of one of these options stands. */
  readonly addsArguments?: readonly string[];
}

const switchUser: Wrapper = {
  harmless: false,
  flags: 'flmpP-',
  valued: 'cgGsTwu',
  long: ['login', 'fast', 'preserve-environment', 'pty', 'no-pty'],
  longValued: ['command', 'session-command', 'group', 'supp-group', 'shell', 'whitelist-environment', 'user'],
  operands: 1,
  permutes: true,
  privilege: true,
  textIn: ['c', 'command', 'session-command'],
  shellAlone: true,
};

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    'env',
    {
      harmless: true,
      flags: 'i0v-',
      valued: 'uCa',
      long: ['ignore-environment', 'null', 'debug', 'list-signal-handling'],
      longValued: ['unset', 'chdir', 'argv0'],
      changesCode: ['a', 'argv0'],
      movesTo: ['C', 'chdir'],
      assigns: true,
    },
  ],
  ['nice', { harmless: true, valued: 'n', longValued: ['adjustment'], numeric: true }],
  ['nohup', { harmless: false }],
  [
    'timeout',
    {
      harmless: true,
      flags: 'fpv',
      valued: 'ks',
      long: ['foreground', 'preserve-status', 'verbose'],
      longValued: ['kill-after', 'signal'],
      operands: 1,
    },
  ],
  ['setsid', { harmless: true, flags: 'cfw', long: ['ctty', 'fork', 'wait'] }],
  ['stdbuf', { harmless: true, valued: 'ioe', longValued: ['input', 'output', 'error'] }],
  [
    'ionice',
    {
      harmless: true,
      harmfulWith: ['p', 'P', 'u', 'pid', 'pgid', 'uid'],
      flags: 't',
      valued: 'cnpPu',
      long: ['ignore'],
      longValued: ['class', 'classdata', 'pid', 'pgid', 'uid'],
    },
  ],
  [
    'chrt',
    {
      harmless: true,
      harmfulWith: ['p', 'pid'],
      flags: 'abdfimoreRpv',
      valued: 'TPD',
      long: ['all-tasks', 'batch', 'deadline', 'fifo', 'idle', 'other', 'rr', 'reset-on-fork', 'verbose'],
      longValued: ['sched-runtime', 'sched-period', 'sched-deadline'],
      operands: 1,
    },
  ],
  [
    'taskset',
    {
      harmless: true,
      harmfulWith: ['p', 'pid'],
      flags: 'apc',
      long: ['all-tasks', 'cpu-list', 'pid'],
      operands: 1,
    },
  ],
  [
    'time',
    {
      harmless: true,
      harmfulWith: ['o', 'output'],
      flags: 'apqv',
      valued: 'fo',
      long: ['append', 'portability', 'quiet', 'verbose'],
      longValued: ['format', 'output'],
    },
  ],
  [
    'xargs',
    {
      harmless: false,
      flags: '0oprtx',
      valued: 'aEdILnPs',
      attached: 'eil',
      long: [
        'null',
        'no-run-if-empty',
        'verbose',
        'interactive',
        'exit',
        'open-tty',
        'replace',
        'eof',
        'max-lines',
      ],
      longValued: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars', 'process-slot-var'],
      changesCode: ['process-slot-var'],
      addsArguments: ['I', 'i', 'replace'],
    },
  ],
  ['command', { harmless: true, flags: 'pvV' }],
  ['builtin', { harmless: true }],
  ['exec', { harmless: true, flags: 'cl', valued: 'a', changesCode: ['a'] }],
  ['busybox', { harmless: true }],
  ['toybox', { harmless: true }],
  [
    'flock',
    {
      harmless: false,
      flags: 'sxenuoFv',
      valued: 'wEc',
      long: ['shared', 'exclusive', 'unlock', 'nonblock', 'nb', 'close', 'no-fork', 'verbose'],
      longValued: ['wait', 'timeout', 'conflict-exit-code', 'command'],
      operands: 1,
      permutes: true,
      textIn: ['c', 'command'],
    },
  ],
  [
    'watch',
    {
      harmless: false,
      flags: 'bceghprtvwxCf',
      valued: 'nq',
      attached: 'd',
      long: ['beep', 'color', 'errexit', 'chgexit', 'precise', 'no-title', 'no-wrap', 'exec', 'differences'],
      longValued: ['interval', 'equexit'],
      joinsUnless: 'x',
    },
  ],
  [
    'script',
    {
      harmless: false,
      flags: 'aefqr',
      valued: 'cEIBOTtmo',
      long: ['append', 'flush', 'force', 'quiet', 'return'],
      longValued: [
        'command',
        'echo',
        'log-in',
        'log-out',
        'log-io',
        'log-timing',
        'logging-format',
        'output-limit',
      ],
      operands: 1,
      permutes: true,
      textIn: ['c', 'command'],
      shellAlone: true,
    },
  ],
  [
    'sudo',
    {
      harmless: false,
      flags: 'ABbEeHiKklNnPSsVv',
      valued: 'CDghpRrTtUu',
      long: [
        'askpass',
        'bell',
        'background',
        'preserve-env',
        'edit',
        'set-home',
        'login',
        'remove-timestamp',
        'reset-timestamp',
        'list',
        'non-interactive',
        'preserve-groups',
        'stdin',
        'shell',
        'version',
        'validate',
        'no-update',
      ],
      longValued: [
        'close-from',
        'chdir',
        'group',
        'host',
        'prompt',
        'chroot',
        'role',
        'type',
        'command-timeout',
        'other-user',
        'user',
      ],
      assigns: true,
      privilege: true,
      shellOn: ['s', 'i', 'shell', 'login'],
      changesCode: ['R', 'chroot'],
      movesTo: ['D', 'chdir'],
    },
  ],
  ['doas', { harmless: false, flags: 'Lns', valued: 'aCu', privilege: true, shellOn: ['s'] }],
  [
    'pkexec',
    {
      harmless: false,
      long: ['disable-internal-agent', 'keep-cwd'],
      longValued: ['user'],
      privilege: true,
      shellAlone: true,
    },
  ],
  ['su', switchUser],
  ['runuser', switchUser],
  [
    'chroot',
    {
      harmless: false,
      long: ['skip-chdir'],
      longValued: ['groups', 'userspec'],
      operands: 1,
      changesCode: true,
      privilege: true,
      shellAlone: true,
    },
  ],
  [
    'ld.so',
    {
      harmless: false,
      long: ['list', 'verify', 'inhibit-cache'],
      longValued: ['library-path', 'inhibit-rpath', 'audit', 'preload', 'argv0', 'glibc-hwcaps-prepend'],
      changesCode: ['library-path', 'inhibit-rpath', 'audit', 'preload', 'argv0', 'glibc-hwcaps-prepend'],
    },
  ],
]);

/** The dynamic loader runs any program given to it: `/lib64/ld-linux-x86-64.so.2 /bin/rm`. */
export function wrapperNamed(base: string): Wrapper | undefined {
  return WRAPPERS.get(/^ld(-[\w.-]+)?\.so(\.\d+)*$/.test(base) ? 'ld.so' : base);
}

export interface ParsedOptions {
  readonly options: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
}

/** The options before the command, or the one that is not known: what follows it might be its value or the command. */
export function parseOptions(wrapper: Wrapper, args: readonly string[]): ParsedOptions | { unknown: string } {
  const options = new Set<string>();
  const values = new Map<string, string>();
  const rest: string[] = [];
  let i = 0;
  for (; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (arg === '--') {
      i += 1;
      break;
    }
    if (arg.startsWith('--')) {
      const [given, attached] = splitOnce(arg.slice(2), '=');
      const name = findLong(wrapper, given);
      if (name === undefined) return { unknown: `--${given}` };
      options.add(name);
      if (wrapper.longValued?.includes(name) === true) values.set(name, attached ?? args[(i += 1)] ?? '');
      else if (attached !== undefined) values.set(name, attached);
    } else if (wrapper.numeric === true && /^-\d+$/.test(arg)) {
      options.add('n');
    } else if (arg.startsWith('-') && (arg.length > 1 || has(wrapper.flags, '-'))) {
      for (let at = 1; at < arg.length; at++) {
        const letter = arg.charAt(at);
        options.add(letter);
        if (has(wrapper.flags, letter)) continue;
        if (has(wrapper.valued, letter))
          values.set(letter, at + 1 < arg.length ? arg.slice(at + 1) : (args[(i += 1)] ?? ''));
        else if (!has(wrapper.attached, letter)) return { unknown: `-${letter}` };
        else if (at + 1 < arg.length) values.set(letter, arg.slice(at + 1));
        break;
      }
    } else if (wrapper.permutes === true && rest.length < (wrapper.operands ?? 0)) {
      rest.push(arg);
    } else break;
  }
  return { options, values, rest: [...rest, ...args.slice(i)] };
}

/** GNU programs take any beginning of a long option that fits only one. */
function findLong(wrapper: Wrapper, given: string): string | undefined {
  const known = [...(wrapper.long ?? []), ...(wrapper.longValued ?? [])];
  if (known.includes(given)) return given;
  const fitting = known.filter((name) => name.startsWith(given));
  return given !== '' && fitting.length === 1 ? fitting[0] : undefined;
}

function has(letters: string | undefined, letter: string): boolean {
  return letters?.includes(letter) === true;
}

function splitOnce(text: string, at: string): [string, string | undefined] {
  const found = text.indexOf(at);
  return found === -1 ? [text, undefined] : [text.slice(0, found), text.slice(found + 1)];
}
