// What a process has written and goes on to write, for a session that did not start it: read by offset, again and again.

import type { RexClient } from '../../client/rex/rex-client.js';
import type { RexResult } from '../../client/rex/rex-methods.js';
import type { OutputChunk, StreamName } from '../../client/rex/remote-output.js';

/** How long is waited for more, or for the end, before looking again. */
const LOOK_MS = 200;
const READ_BYTES = 512 * 1024;

export interface FollowOptions {
  readonly streams: readonly StreamName[];
  /** Where to begin in each stream. */
  readonly offsets: Readonly<Record<StreamName, number>>;
  /** Go on until the process ends; else up to what there is now. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

export type ProcessEnd = RexResult<'exec.wait'>;

export async function* followProcess(
  client: RexClient,
  id: string,
  { streams, offsets, follow, signal }: FollowOptions,
): AsyncGenerator<OutputChunk, ProcessEnd> {
  const at = { ...offsets };
  for (;;) {
    // Asked before the last look: what it wrote before its end is then all there.
    const state = await client.request('exec.wait', { process_id: id, timeout_ms: 0 }, { signal });
    for (const stream of streams) {
      for (;;) {
        const { data, encoding } = await client.request(
          'exec.read',
          { process_id: id, stream, offset: at[stream], length: READ_BYTES, encoding: 'base64' },
          { signal },
        );
        const bytes = Buffer.from(data, encoding);
        if (bytes.length === 0) break;
        at[stream] += bytes.length;
        yield { stream, bytes };
      }
    }
    if (!follow || state.status !== 'running') return state;
    await client.request('exec.wait', { process_id: id, timeout_ms: LOOK_MS }, { signal });
  }
}
