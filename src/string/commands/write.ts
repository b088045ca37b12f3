// /write: a new file, a file anew, or a block of it.

import { changeFile } from './change-file.js';
import { readEditArguments, resolveEditTarget, type EditTarget } from './edit-target.js';
import { replaceLines } from '../edit/edit-text.js';
import { type TextFile, readTextFile } from '../edit/text-file.js';
import { type CommandResult, type Failure, fail } from '../result.js';
import type { Command, CommandCall } from '../command.js';
import { changeBlock, changeText } from './edit-steps.js';

const USAGE = '/write [--force] PATH, and the content in the lines that follow';

export const writeCommand: Command = {
  name: 'write',
  group: 'edit',
  usage: '/write [--force] PATH[#block]',
  summary: 'the lines that follow become the file, or the block of it',
  run: async (call) => {
    const { flags, target: raw, text } = readEditArguments(call.line, ['force']);
    const target = resolveEditTarget(call, raw, USAGE);
    if (!target.ok) return target;
    if (text === undefined) return fail('INVALID_TARGET', `Usage: ${USAGE}`);
    if (target.block !== undefined) return await changeBlock(call, target, text);
    const { lines } = target;
    if (lines !== undefined)
      return await changeText(call, target, (before) =>
        replaceLines(before.text, lines, before.toFile(text), target.file),
      );
    return await overwrite(call, target, text, flags.has('force'), false);
  },
};

/** `mustExist`: of a file that is to be edited, not made. */
export async function overwrite(
  call: CommandCall,
  target: EditTarget,
  text: string,
  force: boolean,
  mustExist: boolean,
): Promise<CommandResult> {
  const { runtime, session, signal } = call;
  let before: TextFile | undefined;
  try {
    before = await readTextFile(runtime.files, target.path, signal);
  } catch (thrown) {
    return runtime.files.explain(thrown, target.file);
  }
  if (before === undefined && mustExist) return runtime.files.notFound(target.file);
  const conflict =
    before && !force ? conflictOf(session.seen.compare(target.path, before), target.file) : undefined;
  if (conflict !== undefined) return conflict;
  return await changeFile(call, {
    target,
    before,
    after: before?.toFile(text) ?? text,
    force,
    system: ({ bytes, lines }) =>
      mustExist
        ? `Edited ${target.shown} (${lines} lines, whole file)`
        : `${before === undefined ? 'Created' : 'Written'}: ${target.shown} (${bytes} bytes, ${lines} lines)`,
  });
}

function conflictOf(seen: 'same' | 'changed' | 'never', file: string): Failure | undefined {
  if (seen === 'same') return undefined;
  return fail(
    'CONFLICT',
    seen === 'never'
      ? `File exists and was not read in this topic: ${file}`
      : `File has changed since it was read in this topic: ${file}`,
    'Read it first with /open or /edit, or overwrite it with --force.',
  );
}
