// A long stream through rexd: every byte, in little memory, also when the reader stops for seconds.

import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { peakRssBytes } from '../helpers/proc.js';
import { expect, test } from 'vitest';
import { bin } from '../helpers/program.js';
import { runs } from '../helpers/runs.js';
import { removeFolder } from '../helpers/remove-folder.js';

const MIB = 1024 * 1024;
/** A gigabyte in a full run; what grows with a stream is seen in a quarter of it. */
const BYTES = runs(1024, 256) * MIB;
/** Numbers, one a line: no two places of it are alike. */
const STREAM = `seq 1 200000000 | head -c ${BYTES}`;
const MAX_RSS_BYTES = 120 * MIB;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly params?: Record<string, unknown>;
}

async function streamThrough(pauses: { everyBytes: number; ms: number }) {
  const dir = mkdtempSync(join(tmpdir(), 'hawser-stream-'));
  writeFileSync(
    join(dir, 'config.toml'),
    `[limits]\nmax_output_bytes = ${2 * BYTES}\ndefault_timeout_ms = 280000\n[[security.allowed_roots]]\npath = ${JSON.stringify(dir)}\n`,
  );
  const rexd = spawn(process.execPath, [bin('rexd'), '--stdio', '--config', join(dir, 'config.toml')], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    return await readStream(rexd, pauses);
  } finally {
    rexd.stdin.end();
    rexd.stdout.resume();
    await once(rexd, 'close');
    removeFolder(dir);
  }
}

async function readStream(
  rexd: ChildProcessByStdio<Writable, Readable, null>,
  pauses: { readonly everyBytes: number; readonly ms: number },
) {
  const send = (id: number, method: string, params: object): unknown =>
    rexd.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  const hash = createHash('sha256');
  let bytes = 0;
  let seq = 0;
  let nextPause = pauses.everyBytes;
  send(1, 'session.open', { client_name: 'stream' });
  for await (const line of lines(rexd.stdout)) {
    const { id, method, result, params } = JSON.parse(line) as Message;
    if (id === 1)
      send(2, 'exec.start', { session_id: result?.['session_id'], shell: true, command: STREAM, stdin: '' });
    if (method === 'exec.stdout') {
      const data = Buffer.from(String(params?.['data']), params?.['encoding'] as 'utf8' | 'base64');
      hash.update(data);
      bytes += data.length;
      expect(params?.['seq']).toBe((seq += 1));
    }
    if (method === 'exec.exit')
      return { bytes, hash: hash.digest('hex'), exit: params, peakRssBytes: peakRssBytes(rexd.pid ?? 0) };
    if (bytes >= nextPause) {
      nextPause += pauses.everyBytes;
      await new Promise((resolve) => setTimeout(resolve, pauses.ms)); // nothing is read meanwhile
    }
  }
  throw new Error('the server ended before the command');
}

async function* lines(stream: Readable): AsyncGenerator<string, void, undefined> {
  let held: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...held, chunk.subarray(from, at)]).toString('utf8');
      held = [];
      from = at + 1;
    }
    held.push(chunk.subarray(from));
  }
}

let computed: Promise<string> | undefined;

/** By other programs than ours, once. */
function expectedHash(): Promise<string> {
  computed ??= promisify(execFile)('sh', ['-c', `${STREAM} | sha256sum`]).then(({ stdout }) =>
    stdout.slice(0, 64),
  );
  return computed;
}

test.each([
  ['reads on', { everyBytes: Infinity, ms: 0 }],
  ['stops for seconds', { everyBytes: BYTES / 3, ms: 3000 }],
])(
  `${BYTES / MIB} MiB arrive to the last byte in less than 120 MB, for a reader that %s`,
  async (_kind, pauses) => {
    const got = await streamThrough(pauses);
    expect(got.bytes).toBe(BYTES);
    expect(got.hash).toBe(await expectedHash());
    expect(got.exit).toMatchObject({ exit_code: 0, bytes_stdout: BYTES, output_limit_exceeded: false });
    expect(got.peakRssBytes).toBeLessThan(MAX_RSS_BYTES);
  },
);
