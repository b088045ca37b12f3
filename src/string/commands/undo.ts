// /undo: the last edit of this topic is taken back, then the one before it, as far as they are remembered.

import { LaneFullError } from '../../base/lane.js';
import { ConflictError } from '../../host/files/errors.js';
import { removePath } from '../../host/files/remove.js';
import { writeFile } from '../../host/files/write.js';
import { describeDifference, sha256Of } from './change-file.js';
import { countLines } from '../edit/edit-text.js';
import { reverse } from '../edit/splice.js';
import { readTextFile, type TextFile } from '../edit/text-file.js';
import { type KeptStep, UndoUnreadableError } from '../edit/undo-store.js';
import { type CommandResult, type Failure, fail } from '../result.js';
import type { Command, CommandCall } from '../command.js';
import { cutText } from './verify.js';

const USAGE = '/undo [--skip]';

export const undoCommand: Command = {
  name: 'undo',
  group: 'edit',
  usage: USAGE,
  summary: 'take back the last edit of this topic, then the one before it; --skip forgets one',
  run: async (call) => {
    const { runtime, line } = call;
    const asked = line.args.trim();
    if (asked !== '' && asked !== '--skip')
      return fail('INVALID_PAYLOAD', `Unknown: /undo ${asked}`, `Usage: ${USAGE}`);
    for (;;) {
      const step = await lastStep(call);
      if (step === undefined) return fail('NOT_FOUND', 'Nothing to undo.');
      if ('ok' in step) return step;
      if (asked === '--skip') {
        await runtime.undo.drop(step.file);
        return {
          ok: true,
          system: `Undo: forgot the edit of ${runtime.files.shorten(step.path)}`,
          done: true,
        };
      }
      const result = await revert(call, step);
      if (result !== 'not-needed') return result;
      await runtime.undo.drop(step.file);
    }
  },
};

async function lastStep({ runtime, session }: CommandCall): Promise<KeptStep | Failure | undefined> {
  try {
    return await runtime.undo.last(session.topic.name);
  } catch (thrown) {
    if (!(thrown instanceof UndoUnreadableError)) throw thrown;
    return fail('INTERNAL_ERROR', thrown.message, 'Nothing was written, nothing is forgotten. Try again.');
  }
}

/** `not-needed`: the edit was never made, or is taken back already; the daemon ended in between. */
async function revert(call: CommandCall, step: KeptStep): Promise<CommandResult | 'not-needed'> {
  const { runtime, signal } = call;
  try {
    return await runtime.turns.inTurn(step.path, () => revertNow(call, step), signal);
  } catch (thrown) {
    if (!(thrown instanceof LaneFullError)) throw thrown;
    return conflict(runtime.files.shorten(step.path), 'is waited for by too many edits');
  }
}

async function revertNow(call: CommandCall, step: KeptStep): Promise<CommandResult | 'not-needed'> {
  const { runtime, session, signal } = call;
  const { files, undo } = runtime;
  const shown = files.shorten(step.path);
  try {
    const file = await readTextFile(files, step.path, signal);
    if (file === undefined) return step.existed ? conflict(shown, 'is not there any more') : 'not-needed';
    const now = await sha256Of(file.bytes);
    if (now !== step.afterSha256)
      return step.existed && now === step.beforeSha256
        ? 'not-needed'
        : conflict(shown, 'has changed since that edit');
    const roots = files.roots().files;
    if (!step.existed) {
      await removePath(roots, step.path, { signal });
      session.seen.forget(step.path);
      await undo.drop(step.file);
      return await describe(call, shown, file, undefined);
    }
    const bytes = reverse(file.bytes, step);
    if ((await sha256Of(bytes)) !== step.beforeSha256) throw new Error('what was kept for /undo is damaged');
    const written = await writeFile(roots, step.path, bytes, { expect: { mtimeMs: file.mtimeMs }, signal });
    session.seen.note(step.path, written);
    await undo.drop(step.file);
    return await describe(call, shown, file, bytes.toString('utf8'));
  } catch (thrown) {
    if (thrown instanceof ConflictError) return conflict(shown, 'is being changed in this moment');
    return files.explain(thrown, shown);
  }
}

async function describe(
  call: CommandCall,
  target: string,
  { bytes }: TextFile,
  restored: string | undefined,
): Promise<CommandResult> {
  const { gutter, summary } = await describeDifference(call, bytes.toString('utf8'), restored ?? '');
  return {
    ok: true,
    system:
      restored === undefined
        ? `Undo: deleted ${target} (was newly created)`
        : `Undo: reverted ${target} (${countLines(restored)} lines)\n${cutText(restored)}`,
    done: true,
    change: {
      target,
      summary: restored === undefined ? 'Deleted (was newly created)' : summary,
      diff: gutter,
    },
  };
}

function conflict(shown: string, why: string): Failure {
  return fail('CONFLICT', `${shown} ${why}.`, 'Nothing was written. /undo --skip forgets this edit.');
}
