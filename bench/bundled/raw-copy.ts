// The least a router can cost: bytes are carried between each client and a `cat` of its own, and nobody looks at them.
// Usage: raw-copy --unix PATH | --stdio

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';

const path = process.argv[process.argv.indexOf('--unix') + 1];

if (process.argv.includes('--unix')) {
  createServer((socket) => join(socket, socket)).listen(path);
} else {
  join(process.stdin, process.stdout);
}

function join(input: Readable | Duplex, output: Writable | Duplex): void {
  const worker: ChildProcessByStdio<Writable, Readable, null> = spawn('cat', {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  copy(input, worker.stdin);
  copy(worker.stdout, output);
  input.on('close', () => worker.kill());
  for (const stream of [input, output, worker.stdin]) stream.on('error', () => worker.kill());
}

function copy(from: Readable, to: Writable): void {
  from.on('data', (chunk: Buffer) => {
    if (to.write(chunk)) return;
    from.pause();
    to.once('drain', () => from.resume());
  });
}
