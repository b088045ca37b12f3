// /verify: whether a block is there, and how it begins.

import { unquoteTarget } from '../arguments.js';
import { findBlock, textOfBlock } from '../document/blocks.js';
import { resolveEditTarget } from './edit-target.js';
import { blockNotFound, countLines } from '../edit/edit-text.js';
import { fail, succeed } from '../result.js';
import type { Command } from '../command.js';
import { readForEdit } from './edit-steps.js';

const USAGE = '/verify PATH#block';
/** Of the text that is shown by `/verify` and `/undo`. */
export const MAX_PREVIEW_CHARS = 200;

export const verifyCommand: Command = {
  name: 'verify',
  group: 'edit',
  usage: USAGE,
  summary: 'whether a block is there, and how it begins',
  run: async (call) => {
    const target = resolveEditTarget(call, unquoteTarget(call.line.args.trim()), USAGE);
    if (!target.ok) return target;
    if (target.block === undefined) return fail('INVALID_TARGET', `Usage: ${USAGE}`);
    const read = await readForEdit(call, target);
    if (!read.ok) return read;
    const { text, show, toFile } = read.file;
    const block = findBlock(text, toFile(target.block));
    if (block === undefined) return blockNotFound(text, target.block, target.file);
    const content = show(textOfBlock(text, block));
    return succeed(
      `Verified ${target.shown} (${countLines(content)} lines, ${content.length} chars)`,
      cutText(content),
    );
  },
};

/** Never half a character. */
export function cutText(text: string): string {
  return text.slice(0, MAX_PREVIEW_CHARS).replace(/[\uD800-\uDBFF]$/u, '');
}
