// REXD v1: what terminals show and take, byte by byte.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { Terminal } from '../kit/pty-client.js';
import { verifies } from '../kit/verifies.js';

const encodings = ({ events }: Terminal): unknown[] =>
  events.filter(({ method }) => method === 'pty.output').map(({ params }) => params['encoding']);

verifies('rexd/pty.output/borders', async () => {
  await using client = await ExecClient.open();
  const text = 'aü✓😀'.repeat(40_000); // one to four bytes each, cut anywhere by the kernel
  writeFileSync(join(client.root, 'text'), text);
  const terminal = await Terminal.open(client, { shell: true, command: 'stty -opost; cat text' });
  await terminal.exit();
  expect(terminal.shown.toString('utf8') === text, `${terminal.shown.length} bytes`).toBe(true);
  expect(new Set(encodings(terminal))).toEqual(new Set(['utf8']));
  for (const { params } of terminal.events) expect(String(params['data'])).not.toContain('\uFFFD');
});

verifies('rexd/pty.output/borders', async () => {
  await using client = await ExecClient.open();
  const octets = [...Buffer.from('é✓😀')].map((byte) => `\\${byte.toString(8)}`);
  const terminal = await Terminal.open(client, {
    shell: true,
    command: `stty -opost; for byte in ${octets.map((o) => `'${o}'`).join(' ')}; do printf "$byte"; sleep 0.03; done`,
  });
  await terminal.exit();
  const pieces = terminal.events.filter(({ method }) => method === 'pty.output');
  expect(pieces.map(({ params }) => params['data']).join('')).toBe('é✓😀');
  expect(new Set(encodings(terminal))).toEqual(new Set(['utf8']));
});

verifies('rexd/pty.output/borders', async () => {
  await using client = await ExecClient.open();
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919 + (i >> 8)) & 0xff));
  writeFileSync(join(client.root, 'bytes'), bytes);
  const terminal = await Terminal.open(client, {
    shell: true,
    command: 'stty -opost -echo; printf "before ✓"; read go; cat bytes; read go; printf "after ✓"',
  });
  const before = Buffer.from('before ✓');
  await terminal.shows('before ✓');
  await terminal.type('\r');
  await until(() => terminal.shown.length === before.length + bytes.length, 'all bytes');
  await terminal.type('\r');
  await terminal.exit();
  expect(terminal.shown.equals(Buffer.concat([before, bytes, Buffer.from('after ✓')]))).toBe(true);
  const all = encodings(terminal);
  expect([all[0], all.includes('base64'), all.at(-1)]).toEqual(['utf8', true, 'utf8']);
  expect(client.longestLine).toBeLessThan(1024 * 1024);
});

verifies('rexd/pty.input/large', async () => {
  await using client = await ExecClient.open();
  const text = Array.from({ length: 40_000 }, (_, i) => `line ${String(i).padStart(10)} ü✓`).join('\n');
  const bytes = Buffer.from(text);
  const terminal = await Terminal.open(client, {
    shell: true,
    command: `stty raw -echo; printf 'ready.'; sleep 0.3; head -c ${bytes.length} | sha256sum`,
  });
  await terminal.shows('ready.');
  const half = bytes.length / 2;
  const answers = await Promise.all([
    terminal.type(bytes.subarray(0, half).toString('base64'), { encoding: 'base64' }),
    terminal.type(bytes.subarray(half).toString('base64'), { encoding: 'base64' }),
  ]);
  expect(answers.map((answer) => answer['accepted_bytes'])).toEqual([
    Math.floor(half),
    bytes.length - Math.floor(half),
  ]);
  await terminal.shows(createHash('sha256').update(bytes).digest('hex'));
});
