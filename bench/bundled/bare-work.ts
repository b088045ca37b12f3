// What the machine can do without us: bare calls of node:fs and a bare pipe, asked for by line, one after the other.
//
// `<job> <path>\n` is answered when the job is done: `read` and `copy` with the bytes themselves, the others with a
// newline. `write <bytes> <path>\n` is followed by that many bytes to write.

import { spawn } from 'node:child_process';
import {
  closeSync,
  type Dirent,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

const NEWLINE = 10;

/** What each job answers with; nothing where it answers by itself. */
const JOBS: Readonly<Record<string, (path: string) => string | Buffer | undefined>> = {
  stat(path) {
    lstatSync(path);
    return '\n';
  },
  read: (path) => readFileSync(path),
  copy(path) {
    spawn('cat', [path], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(process.stdout, {
      end: false,
    });
    return undefined;
  },
  list(path) {
    walk(path, (directory, entry) => void lstatSync(`${directory}/${entry.name}`));
    return '\n';
  },
  glob(path) {
    walk(path, () => {});
    return '\n';
  },
};

function walk(directory: string, see: (directory: string, entry: Dirent) => void): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    see(directory, entry);
    if (entry.isDirectory()) walk(`${directory}/${entry.name}`, see);
  }
}

/** The least after which the new file is there whatever happens: its bytes are on the disk, and so is its name. */
function replace(path: string, content: Buffer): void {
  const fd = openSync(`${path}.new`, 'w');
  for (let at = 0; at < content.length; ) at += writeSync(fd, content, at);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(`${path}.new`, path);
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

let held: Buffer[] = [];
let heldBytes = 0;
/** How much has to be there before it is worth a look. */
let wanted = 1;

process.stdin.on('data', (chunk: Buffer) => {
  held.push(chunk);
  heldBytes += chunk.length;
  if (heldBytes < wanted) return;
  const input = Buffer.concat(held);
  const end = input.indexOf(NEWLINE);
  if (end === -1) return keep(input);
  const [job = '', ...words] = input.toString('utf8', 0, end).split(' ');
  const size = job === 'write' ? Number(words.shift()) : 0;
  const whole = end + 1 + size;
  wanted = whole;
  if (input.length < whole) return keep(input);
  wanted = 1;
  keep(input.subarray(whole));
  const path = words.join(' ');
  if (job === 'write') replace(path, input.subarray(end + 1, whole));
  const answer = job === 'write' ? '\n' : JOBS[job]?.(path);
  if (answer !== undefined) process.stdout.write(answer);
});

function keep(rest: Buffer): void {
  held = rest.length === 0 ? [] : [rest];
  heldBytes = rest.length;
}
