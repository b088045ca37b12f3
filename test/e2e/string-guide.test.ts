// What the guide to the SDK of String shows runs as it is written.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run } from '../helpers/program.js';
import { StringPlace } from '../helpers/string-place.js';

const GUIDE = readFileSync(new URL('../../docs/guide/string-sdk.md', import.meta.url), 'utf8');
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

test('the program of the guide says what it is meant to say', async () => {
  await using place = await StringPlace.make();
  const [, program = ''] = /^```js runnable\n(.*?)^```/ms.exec(GUIDE) ?? [];
  mkdirSync(join(place.folder, 'node_modules'));
  symlinkSync(REPOSITORY, join(place.folder, 'node_modules/hawser'));
  writeFileSync(join(place.folder, 'string.mjs'), program);
  const result = await run([process.execPath, 'string.mjs'], { cwd: place.folder, env: place.env });
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(result.stdout).toBe(
    [
      'true main Session info',
      'false NOT_FOUND',
      '1\n2\n3',
      'exit: 0 | cwd: …',
      'TimeoutError',
      'event: the build is green',
      '',
    ].join('\n'),
  );
});
