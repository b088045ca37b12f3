import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { earlyLink, MAX_EARLY_WRITE_BYTES } from '../../../../src/wire/transport/early-stdio.js';

test('an output that breaks before anybody listens is no crash, and whoever listens first is told', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const link = earlyLink(Buffer.alloc(0), () => ({ input, output, name: 'test', close: async () => {} }));
  link.input.pause();
  link.output.write(Buffer.alloc(MAX_EARLY_WRITE_BYTES + 1)); // too much to go past the stream
  const gone = new Error('nobody reads');
  const closed = new Promise<void>((resolve) => output.once('close', resolve));
  output.destroy(gone);
  await closed;
  const heard: Error[] = [];
  link.output.once('close', () => {});
  link.output.on('error', (error) => heard.push(error));
  expect(heard).toEqual([gone]);
});
