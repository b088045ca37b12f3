// `string completions`: what a shell needs to complete our words. Open topics are asked of a daemon that runs; none is started.

import { HUBS } from '../../string/topic.js';
import { UsageError } from '../flags.js';
import { type StringCommand, suggest } from './command.js';
import type { StringContext } from './context.js';
import { USAGE } from './usage.js';

const COMMANDS = ['daemon', 'mcp', 'completions', 'lint', 'new', 'help'];
/** What may follow a word. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  daemon: ['start', 'stop', 'status', 'foreground'],
  '--daemon': ['start', 'stop', 'status', 'foreground'],
  mcp: ['config'],
  config: ['--client', '--name', '--npx'],
  '--client': ['claude', 'codex', 'cursor', 'vscode', 'opencode', 'opencode-2'],
  completions: ['bash', 'zsh', 'fish'],
  new: ['app', 'tool'],
  event: ['list', 'read', 'ack', 'clear', 'webhook', 'help'],
  webhook: ['show', 'create', 'rotate'],
  system: ['status', 'stop', 'help'],
  agent: ['list', 'current', 'add', 'use', 'set-home', 'rm', 'help'],
};

export const completionsCommand: StringCommand = async (context, words) => {
  const [, shell, extra] = words;
  if (shell === '--topics') return await listTopics(context);
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
  const make = shell !== undefined && Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (make === undefined)
    throw new UsageError(
      `string completions: bash, zsh or fish?${shell === undefined ? '' : ` There is no "${shell}"${suggest(shell, Object.keys(SCRIPTS))}`}`,
    );
  return await context.print(make());
};

async function listTopics(context: StringContext): Promise<number> {
  const client = await context.client();
  const sessions = await client.listSessions().catch(() => []); // no daemon: then no topics
  return sessions.length === 0 ? 0 : await context.print(sessions.map(({ topic }) => topic).join('\n'));
}

const FLAGS = Object.keys(USAGE.flags).map((name) => `--${name}`);
const VALUED = Object.entries(USAGE.flags)
  .filter(([, flag]) => flag.value !== undefined)
  .map(([name]) => `--${name}`);
const FIRST = [...HUBS, ...COMMANDS];

const SCRIPTS: Readonly<Record<string, () => string>> = {
  bash: () =>
    [
      '# bash completion of string; to be sourced, or: source <(string completions bash)',
      '_string_complete() {',
      '  local line=${COMP_LINE:0:COMP_POINT} cur prev word i=1 colon',
      '  local -a words',
      '  COMPREPLY=()',
      // By blanks alone: the words that bash has made are split at the colons of topics.
      '  read -ra words <<<"$line"',
      '  [[ $line == *[[:space:]] ]] && words+=("")',
      '  local last=$((${#words[@]} - 1))',
      '  cur=${words[last]} prev=${words[last - 1]}',
      '  case "$prev" in',
      ...Object.entries(AFTER).map(
        ([word, next]) => `    ${word}) COMPREPLY=($(compgen -W "${next.join(' ')}" -- "$cur")); return ;;`,
      ),
      `    ${VALUED.join('|')}) return ;;`,
      '  esac',
      '  while ((i < last)); do',
      '    word=${words[i]}',
      `    case "$word" in ${VALUED.join('|')}) ((i += 2)) ;; -*) ((i += 1)) ;; *) return ;; esac`,
      '  done',
      `  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "${FLAGS.join(' ')}" -- "$cur")); return; fi`,
      `  COMPREPLY=($(compgen -W "${FIRST.join(' ')} $("\${words[0]}" completions --topics 2>/dev/null)" -- "$cur"))`,
      '  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then',
      '    colon=${cur%"${cur##*:}"}',
      '    COMPREPLY=("${COMPREPLY[@]#"$colon"}")',
      '  fi',
      '}',
      'complete -F _string_complete string',
    ].join('\n'),
  zsh: () =>
    [
      '#compdef string',
      '# zsh completion of string; in a folder of $fpath as _string, or: source <(string completions zsh)',
      '_string() {',
      '  local prev=${words[CURRENT-1]} i=2 word',
      '  case "$prev" in',
      ...Object.entries(AFTER).map(([word, next]) => `    ${word}) compadd -- ${next.join(' ')}; return ;;`),
      `    ${VALUED.join('|')}) return ;;`,
      '  esac',
      '  while ((i < CURRENT)); do',
      '    word=${words[i]}',
      `    case "$word" in ${VALUED.join('|')}) ((i += 2)) ;; -*) ((i += 1)) ;; *) return ;; esac`,
      '  done',
      `  if [[ $PREFIX == -* ]]; then compadd -- ${FLAGS.join(' ')}`,
      `  else compadd -- ${FIRST.join(' ')} \${(f)"$(\${words[1]} completions --topics 2>/dev/null)"}; fi`,
      '}',
      'compdef _string string 2>/dev/null || true',
    ].join('\n'),
  fish: () =>
    [
      '# fish completion of string; in ~/.config/fish/completions/string.fish, or: string completions fish | source',
      'complete -c string -f',
      ...Object.entries(USAGE.flags).map(
        ([name, flag]) =>
          `complete -c string -n __fish_use_subcommand -l ${name}${flag.value === undefined ? '' : ' -x'} -d ${quote(flag.summary)}`,
      ),
      `complete -c string -n __fish_use_subcommand -a ${quote(FIRST.join(' '))}`,
      `complete -c string -n __fish_use_subcommand -a '(string completions --topics 2>/dev/null)' -d topic`,
      ...Object.entries(AFTER)
        .filter(([word]) => !word.startsWith('-'))
        .map(
          ([word, next]) =>
            `complete -c string -n '__fish_seen_subcommand_from ${word}' -a ${quote(next.join(' '))}`,
        ),
      `complete -c string -l client -x -a ${quote((AFTER['--client'] ?? []).join(' '))}`,
    ].join('\n'),
};

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
