// /replace: a piece of text, some lines, or a block, by another.

import { readEditArguments, resolveEditTarget } from './edit-target.js';
import { replaceLines, replaceText } from '../edit/edit-text.js';
import { fail } from '../result.js';
import type { Command } from '../command.js';
import { changeBlock, changeText } from './edit-steps.js';

const USAGE = '/replace PATH, then the old text, a line ---, the new text';

export const replaceCommand: Command = {
  name: 'replace',
  group: 'edit',
  usage: '/replace PATH[#block|:L5-L10] [--all]',
  summary: 'old text, a line ---, new text; or new text for a block or for lines',
  run: (call) => {
    const { flags, target: raw, text = call.line.body } = readEditArguments(call.line, ['all']);
    const target = resolveEditTarget(call, raw, USAGE);
    if (!target.ok) return target;
    const { file, lines, block } = target;
    if (text === undefined) return fail('INVALID_PAYLOAD', 'No text to put there.', `Usage: ${USAGE}`);
    if (block !== undefined) return changeBlock(call, target, text);
    if (lines !== undefined)
      return changeText(call, target, (before) =>
        replaceLines(before.text, lines, before.toFile(text), file),
      );
    return changeText(
      call,
      target,
      (before) => replaceText(before.text, before.toFile(text), { all: flags.has('all'), file }),
      (count) => `Replaced ${count} occurrence${count === 1 ? '' : 's'} in ${file}`,
    );
  },
};
