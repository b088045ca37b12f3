// What images tell about themselves.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeImage, IMAGE_HEAD_BYTES } from '../../../src/string/files/image-info.js';
import { MAX_DOCUMENT_BYTES } from '../../../src/string/files/load-document.js';
import { makePlace } from './place.js';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const PNG = hex('89504e470d0a1a0a 0000000d 49484452 00000280 000001e0 0806000000');

test.each([
  ['png', PNG, { type: 'image/png', width: 640, height: 480 }],
  ['gif', hex('474946383961 0a00 1400'), { type: 'image/gif', width: 10, height: 20 }],
  [
    'jpeg',
    hex('ffd8 ffe0 0004 0000 ffc0 0011 08 01e0 0280 03 000000'),
    { type: 'image/jpeg', width: 640, height: 480 },
  ],
  [
    'webp',
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0', 'latin1'), hex('7f0200 df0100')]),
    { type: 'image/webp', width: 640, height: 480 },
  ],
  [
    'bmp',
    Buffer.concat([Buffer.from('BM'), hex('00000000 00000000 36000000 28000000 80020000 20feffff')]),
    { type: 'image/bmp', width: 640, height: 480 },
  ],
  ['too short', PNG.subarray(0, 12), undefined],
  ['text', Buffer.from('hello'), undefined],
])('%s', (_, head, expected) => {
  expect(describeImage(head)).toEqual(expected);
});

test('an image is shown by what it is, however large; only IMAGE_HEAD_BYTES of a large one are read', async () => {
  await using place = makePlace();
  writeFileSync(join(place.home, 'a.png'), PNG);
  writeFileSync(join(place.home, 'b.png'), Buffer.concat([PNG, Buffer.alloc(MAX_DOCUMENT_BYTES)]));
  expect(MAX_DOCUMENT_BYTES).toBeGreaterThan(IMAGE_HEAD_BYTES);
  const small = await place.run('main', '/open a.png');
  expect(small.content).toContain(`type: image/png\nsize: ${PNG.length} bytes\ndimensions: 640 × 480`);
  expect((await place.run('main', '/open b.png')).content).toContain('dimensions: 640 × 480');
  expect(small.meta?.uri).toMatch(/a\.png$/);
});
