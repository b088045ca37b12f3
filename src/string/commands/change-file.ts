// Puts an edited file in place: first the way back, then the file, both on the disk before it is said to be done.

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AlreadyExistsError, ConflictError } from '../../host/files/errors.js';
import { writeFile } from '../../host/files/write.js';
import type { CommandCall } from '../command.js';
import { type CommandResult, type Failure, fail } from '../result.js';
import type { EditTarget } from './edit-target.js';
import { countLines, type LineRange } from '../edit/edit-text.js';
import { diffLines } from '../edit/line-diff.js';
import { diffViewOf, rowsFor, showDiff, showGutter, summarise } from '../edit/show-diff.js';
import { spliceBetween } from '../edit/splice.js';
import type { TextFile } from '../edit/text-file.js';

export interface FileChange {
  readonly target: EditTarget;
  /** Undefined for a file that is new. */
  readonly before: TextFile | undefined;
  /** In the characters of `before`. */
  readonly after: string;
  /** The line that says what was done; it is told how large the file is now. */
  readonly system: (written: { readonly bytes: number; readonly lines: number }) => string;
  /** What ChanFlow shows of the surroundings. */
  readonly within?: LineRange | undefined;
  /** Whatever the file is by now. */
  readonly force?: boolean;
}

/** Hashed at once: a few milliseconds. */
const SLICE_BYTES = 1024 * 1024;

export const UNDO_HINT = 'Use /undo to revert.';

export async function changeFile(call: CommandCall, change: FileChange): Promise<CommandResult> {
  const { before, after } = change;
  const { path, shown } = change.target;
  const { runtime, session, signal } = call;
  const bytes = before?.encode(after) ?? Buffer.from(after, 'utf8');
  const old = before?.bytes ?? Buffer.alloc(0);
  if (before !== undefined && old.equals(bytes)) return await describe(call, change, bytes.length, false);
  let step: string | undefined;
  try {
    step = await runtime.undo.push(session.topic.name, {
      path,
      existed: before !== undefined,
      ...spliceBetween(old, bytes),
      beforeSha256: await sha256Of(old),
      afterSha256: await sha256Of(bytes),
    });
    const written = await writeFile(runtime.files.roots().files, path, bytes, {
      ...(before === undefined
        ? { mode: 'create', mkdirParents: true }
        : change.force === true
          ? {}
          : { expect: { mtimeMs: before.mtimeMs } }),
      signal,
    });
    session.seen.note(path, written);
  } catch (thrown) {
    if (step !== undefined) await runtime.undo.drop(step);
    return explain(call, thrown, shown);
  }
  return await describe(call, change, bytes.length);
}

/** In slices: others have their turn in between. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    if (at > 0) await nextTurn();
    hash.update(bytes.subarray(at, at + SLICE_BYTES));
  }
  return hash.digest('hex');
}

/** What is shown of two texts: for plain surfaces, and for ChanFlow. */
export async function describeDifference(
  call: CommandCall,
  before: string | undefined,
  after: string,
  within?: LineRange,
): Promise<{ readonly plain: string; readonly gutter: string; readonly summary: string }> {
  const view = diffViewOf(call.session.variables);
  const diff = await diffLines(before ?? '', after, view.context, rowsFor(view));
  return {
    plain: showDiff(diff, view, before === undefined),
    gutter: showGutter(diff, view, within),
    summary: summarise(diff),
  };
}

async function describe(
  call: CommandCall,
  change: FileChange,
  bytes: number,
  isWritten = true,
): Promise<CommandResult> {
  const { target, before, after } = change;
  const show = before?.show ?? ((text: string) => text);
  const { files } = call.runtime;
  const difference =
    before?.isBinary === true
      ? { plain: '(binary)', gutter: '', summary: `${bytes} bytes` }
      : await describeDifference(call, before && show(before.text), show(after), change.within);
  const suffix = target.shown.slice(target.file.length);
  return {
    ok: true,
    system: change.system({ bytes, lines: countLines(after) }),
    // Where nothing was written, /undo would take back another edit.
    content: isWritten ? `${difference.plain}\n---\n${UNDO_HINT}` : difference.plain,
    done: true,
    change: {
      target: `${files.shorten(target.path)}${suffix}`,
      summary: difference.summary,
      diff: difference.gutter,
    },
  };
}

function explain({ runtime }: CommandCall, thrown: unknown, shown: string): Failure {
  if (thrown instanceof AlreadyExistsError)
    return fail(
      'CONFLICT',
      `${shown} is there already: somebody else has made it in this moment, or it is a link that leads nowhere.`,
      'Nothing was written. Look at it, or choose another name.',
    );
  if (thrown instanceof ConflictError)
    return fail(
      'CONFLICT',
      `${shown} was changed by somebody else in this moment.`,
      'Nothing was written. Read it again, and try again.',
    );
  return runtime.files.explain(thrown, shown);
}
