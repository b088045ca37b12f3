// /edit: a file with numbered lines; with a text, what becomes of it.

import { isThere, readEditArguments, resolveEditTarget, type EditTarget } from './edit-target.js';
import { blockNotFound, replaceLines, startsOfLines } from '../edit/edit-text.js';
import { numberIn } from '../edit/show-diff.js';
import { findBlock } from '../document/blocks.js';
import { type CommandResult, fail, succeed } from '../result.js';
import type { Command, CommandCall } from '../command.js';
import { changeBlock, changeText, readForEdit } from './edit-steps.js';
import { overwrite } from './write.js';

const USAGE = '/edit [--force] PATH[#block], and the content in the lines that follow, or none to look at it';
/** Shown of a file unless the variable `_edit_max_lines` says otherwise. */
export const MAX_EDIT_VIEW_LINES = 100;

export const editCommand: Command = {
  name: 'edit',
  group: 'edit',
  usage: '/edit [--force] PATH[#block]',
  summary: 'show the source with line numbers; with lines that follow, replace it',
  run: (call) => {
    const asked = readEditArguments(call.line, ['force']);
    const whole = call.line.args.trim();
    // Without a body, a name with blanks in it is still a name.
    const isName = asked.text !== undefined && asked.text !== call.line.body && isThere(call, whole);
    const { flags, target: raw, text } = isName ? { ...asked, target: whole, text: undefined } : asked;
    const target = resolveEditTarget(call, raw, USAGE);
    if (!target.ok) return target;
    if (text === undefined) return view(call, target);
    if (target.block !== undefined) return changeBlock(call, target, text);
    const { lines } = target;
    if (lines === undefined) return overwrite(call, target, text, flags.has('force'), true);
    return changeText(call, target, (before) =>
      replaceLines(before.text, lines, before.toFile(text), target.file),
    );
  },
};

async function view(call: CommandCall, target: EditTarget): Promise<CommandResult> {
  const { session } = call;
  const read = await readForEdit(call, target);
  if (!read.ok) return read;
  const { text, show, toFile } = read.file;
  session.seen.note(target.path, read.file);
  const starts = startsOfLines(text);
  const total = starts.length - 1;
  let [first, last] = [1, total];
  if (target.block !== undefined) {
    const block = findBlock(text, toFile(target.block));
    if (block === undefined) return blockNotFound(text, target.block, target.file);
    const span = block.kind === 'marker' ? block.inner : block.outer;
    first = lineAt(starts, span.start);
    last = lineAt(starts, Math.max(span.start, span.end - 1));
    if (span.start === span.end) last = first - 1;
  } else if (target.lines !== undefined) {
    ({ first, last } = target.lines);
    if (first < 1 || last < first || last > total)
      return fail('INVALID_TARGET', `Line range is out of bounds: ${target.file} has ${total} lines`);
  }
  const most = numberIn(session.variables, '_edit_max_lines', MAX_EDIT_VIEW_LINES);
  const end = Math.min(last, first + most - 1);
  const width = String(last).length;
  const rows: string[] = [];
  for (let line = first; line <= end; line++) {
    const content = text.slice(starts[line - 1], starts[line]).replace(/\r?\n$/u, '');
    rows.push(` ${String(line).padStart(width)} | ${show(content)}`);
  }
  if (end < last)
    rows.push(
      `... (${last - end} more lines, /edit ${target.file}:L${end + 1}-L${Math.min(last, end + most)} shows the next)`,
    );
  return succeed(
    `[editing: ${target.shown}]`,
    [...rows, '', `(${Math.max(0, last - first + 1)} lines)`].join('\n'),
  );
}

/** The number of the line in which a place is. */
function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 2];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}
