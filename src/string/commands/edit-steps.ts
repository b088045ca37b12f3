// The steps that editing commands share: read the file, change its text, put it back.

import { LaneFullError } from '../../base/lane.js';
import { changeFile } from './change-file.js';
import type { EditTarget } from './edit-target.js';
import { countLines, type Edited, editBlock } from '../edit/edit-text.js';
import { readTextFile, type TextFile } from '../edit/text-file.js';
import { type CommandResult, type Failure, fail } from '../result.js';
import type { CommandCall } from '../command.js';

export async function readForEdit(
  call: CommandCall,
  target: EditTarget,
): Promise<{ ok: true; file: TextFile } | Failure> {
  const { runtime, signal } = call;
  try {
    const file = await readTextFile(runtime.files, target.path, signal);
    if (file === undefined) return runtime.files.notFound(target.file);
    if (file.isBinary) return fail('LOAD_ERROR', `Not a text file: ${target.file}`);
    return { ok: true, file };
  } catch (thrown) {
    return runtime.files.explain(thrown, target.file);
  }
}

export async function changeText(
  call: CommandCall,
  target: EditTarget,
  edit: (before: TextFile) => Edited,
  describe: (count: number, bytes: number) => string = () => `Replaced ${target.shown}`,
): Promise<CommandResult> {
  const change = async (): Promise<CommandResult> => {
    const read = await readForEdit(call, target);
    if (!read.ok) return read;
    const edited = edit(read.file);
    if (!edited.ok) return edited;
    return await changeFile(call, {
      target,
      before: read.file,
      after: edited.text,
      within: edited.within,
      system: ({ bytes }) => describe(edited.count, bytes),
    });
  };
  try {
    return await call.runtime.turns.inTurn(target.path, change, call.signal);
  } catch (thrown) {
    if (!(thrown instanceof LaneFullError)) throw thrown;
    return fail('CONFLICT', `Too many edits wait for ${target.file}.`, 'Nothing was written. Try again.');
  }
}

export function changeBlock(call: CommandCall, target: EditTarget, body: string): Promise<CommandResult> {
  const { file, shown, block: id = '' } = target;
  // One break is what ends the last line of a body; a body of nothing else empties the block.
  const lines = /^\r?\n?$/u.test(body) ? 0 : countLines(body);
  return changeText(
    call,
    target,
    (before) => editBlock(before.text, { id: before.toFile(id), body: before.toFile(body), file }),
    () => `Edited ${shown} (${lines} lines)`,
  );
}
