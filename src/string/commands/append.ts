// /append: more at the end of a file, or of a block of it.

import { readEditArguments, resolveEditTarget } from './edit-target.js';
import { appendText, editBlock } from '../edit/edit-text.js';
import { fail } from '../result.js';
import type { Command } from '../command.js';
import { changeText } from './edit-steps.js';

const USAGE = '/append PATH, and the content in the lines that follow';

export const appendCommand: Command = {
  name: 'append',
  group: 'edit',
  usage: '/append PATH[#block]',
  summary: 'add the lines that follow at the end',
  run: (call) => {
    const { target: raw, text } = readEditArguments(call.line);
    const target = resolveEditTarget(call, raw, USAGE);
    if (!target.ok) return target;
    const { shown, file, block } = target;
    if (target.lines !== undefined)
      return fail('INVALID_TARGET', `Lines cannot be appended to: ${shown}`, `Usage: ${USAGE}`);
    if (text === undefined) return fail('INVALID_TARGET', `Usage: ${USAGE}`);
    return changeText(
      call,
      target,
      (before) =>
        block === undefined
          ? { ok: true, text: appendText(before.text, before.toFile(text)), count: 1 }
          : editBlock(before.text, {
              id: before.toFile(block),
              body: before.toFile(text),
              file,
              append: true,
            }),
      (_count, bytes) => `Appended to: ${shown} (now ${bytes} bytes)`,
    );
  },
};
