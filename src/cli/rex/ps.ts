// rex ps: what was started on a target and left running, and what of it has ended lately.

import type { RexResult } from '../../client/rex/rex-methods.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { printable } from '../colours.js';

type Listed = RexResult<'exec.list'>['processes'][number];

const MAX_COMMAND_CHARS = 60;

export const psCommand: RexCommand = {
  examples: [
    ['rex ps server-a', 'what was left running there, and what of it ended lately'],
    ['rex ps --running --json', 'only what runs, for a program'],
  ],
  define: (command, run) => {
    command
      .argument('[target]', 'where; without one, see "rex target which"')
      .option('-r, --running', 'without those that have ended')
      .action(run(ps));
  },
};

async function ps(
  context: RexContext,
  [target]: readonly string[],
  options: { readonly running?: boolean },
): Promise<number> {
  const client = await context.connect(target);
  const { processes } = await client.request('exec.list', {});
  const shown = processes.filter(({ status }) => options.running !== true || status === 'running');
  if (context.json) await context.outJson(shown);
  else if (shown.length === 0)
    context.say('nothing was left running there; start something with: rex exec --detach');
  else await context.out(table(shown));
  return 0;
}

function table(processes: readonly Listed[]): string {
  const rows = processes.map((each) => [
    each.process_id,
    each.status === 'running' ? 'running' : `${each.status} ${each.exit_code ?? each.signal ?? ''}`.trim(),
    since(each.started_at),
    `${each.bytes_stdout}/${each.bytes_stderr}`,
    short(each.argv.map(quote).join(' ')),
  ]);
  const all = [['ID', 'STATUS', 'STARTED', 'OUT/ERR', 'COMMAND'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => `${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}\n`).join('');
}

function since(started: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(started)) / 1000));
  if (seconds < 120) return `${seconds}s ago`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m ago`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h ago` : `${Math.floor(seconds / 86_400)}d ago`;
}

/** Only to be read; nothing that could move the cursor gets to a terminal. */
function quote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : printable(JSON.stringify(word));
}

function short(text: string): string {
  return text.length <= MAX_COMMAND_CHARS ? text : `${text.slice(0, MAX_COMMAND_CHARS - 1)}…`;
}
