import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LocalError } from '../../../../src/base/errors.js';
import { openPty } from '../../../../src/host/pty/open-pty.js';
import { MAX_PENDING_INPUT_BYTES, TerminalInput } from '../../../../src/host/pty/terminal-input.js';
import { until } from '../../../helpers/wait.js';
import { plainEnv, readAll, readUntil } from './terminals.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const env = plainEnv();
const MIB = 1024 * 1024;
const END_OF_INPUT = Buffer.from([4]);

test('a paste of 1 MiB arrives whole at a program in raw mode', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pty-'));
  const file = join(dir, 'typed');
  const paste = Buffer.from(Uint32Array.from({ length: MIB / 4 }, (_, i) => Math.imul(i, 2654435761)).buffer);
  {
    const script = `stty raw -echo; echo ready; exec head -c ${MIB} >"$0"`;
    await using pty = await openPty({ argv: ['sh', '-c', script, file], env });
    await readUntil(pty, 'ready');
    await pty.write(paste);
    await pty.exited;
  }
  expect(readFileSync(file).equals(paste)).toBe(true);
  removeFolder(dir);
});

test('a paste of 1 MiB of lines comes back whole from cat', async () => {
  const line = `${'0123456789'.repeat(10)}\n`;
  const paste = line.repeat(Math.ceil(MIB / line.length));
  await using pty = await openPty({ argv: ['sh', '-c', 'stty -echo; echo ready; exec cat'], env });
  const start = (await readUntil(pty, 'ready\r\n')).length;
  const [output] = await Promise.all([
    readAll(pty, start),
    pty.write(Buffer.from(paste)).then(() => pty.write(END_OF_INPUT)),
  ]);
  expect(output.toString()).toBe(paste.replaceAll('\n', '\r\n'));
});

test('while a program does not read, writing waits and everything else goes on', async () => {
  const pty = await openPty({ argv: ['sh', '-c', 'stty raw -echo; echo ready; exec sleep 1000'], env });
  await readUntil(pty, 'ready');
  const writing = outcome(pty.write(Buffer.alloc(MIB)));
  let turns = 0;
  await until(() => (turns += 1) > 20, 'some turns of the event loop');
  await expect(Promise.race([writing, Promise.resolve('still waiting')])).resolves.toBe('still waiting');
  await pty.close();
  await expect(writing).resolves.toBe('input_closed');
  await expect(pty.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'input_closed' });
});

test('input that waits is limited', async () => {
  const pty = await openPty({ argv: ['sh', '-c', 'stty raw -echo; echo ready; exec sleep 1000'], env });
  await readUntil(pty, 'ready');
  const most = outcome(pty.write(Buffer.alloc(MAX_PENDING_INPUT_BYTES)));
  // What the terminal has taken already is no longer waiting.
  await expect(pty.write(Buffer.alloc(MIB))).rejects.toMatchObject({ code: 'input_full' });
  await pty.close();
  await expect(most).resolves.toBe('input_closed');
});

test('UTF-8 is erased by the character in a plain line', async () => {
  await using pty = await openPty({
    argv: ['sh', '-c', 'stty -echo; echo ready; head -n 1 | od -An -c'],
    env,
  });
  await readUntil(pty, 'ready');
  await pty.write(Buffer.from('aé\x7fb\n'));
  expect((await readAll(pty)).toString()).toMatch(/a +b +\\n/);
});

test('bytes stay whole and in order however little is taken at a time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 }),
      fc.array(fc.nat(9), { minLength: 1, maxLength: 20 }),
      async (writes, pattern) => {
        const taken: number[] = [];
        let turn = 0;
        const room = pattern.some((size) => size > 0) ? pattern : [1];
        const input = new TerminalInput((bytes) => {
          const size = Math.min(room[turn++ % room.length] ?? 0, bytes.length);
          taken.push(...bytes.subarray(0, size));
          return size;
        });
        await Promise.all(writes.map((bytes) => input.write(bytes)));
        expect(taken).toEqual(writes.flatMap((bytes) => [...bytes]));
      },
    ),
    { numRuns: 100 },
  );
});

function outcome(writing: Promise<void>): Promise<string> {
  return writing.then(
    () => 'written',
    (error: LocalError) => error.code,
  );
}
