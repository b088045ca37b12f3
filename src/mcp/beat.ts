// A sign of life now and then while a call takes long: clients give up on one that says nothing.

import type { ToolContext } from './tool.js';

/** Well within the minute that clients wait by default. */
export const PROGRESS_BEAT_MS = 15_000;

/** Gives the way to stop it. Nobody hears it who has not asked for progress. */
export function startBeating({ progress }: ToolContext, everyMs: number = PROGRESS_BEAT_MS): () => void {
  let beats = 0;
  const timer = setInterval(() => {
    beats += 1;
    progress({ progress: beats, message: `running for ${Math.round((beats * everyMs) / 1000)} s` });
  }, everyMs);
  return () => clearInterval(timer);
}
