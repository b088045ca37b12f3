import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../../src/host/process/private-places.js';

const MODULE = fileURLToPath(new URL('../../../../src/host/process/private-places.ts', import.meta.url));

/** In a process of its own: the places are read once, at the start. */
function placesWith(runtimeDir: string): unknown {
  const script = `import(${JSON.stringify(MODULE)}).then(({ PRIVATE_PLACES }) => console.log(JSON.stringify(PRIVATE_PLACES)))`;
  const env = { ...process.env, XDG_RUNTIME_DIR: runtimeDir, TMPDIR: '/tmp' };
  return JSON.parse(
    execFileSync('npx', ['tsx', '-e', script], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
}

test('a runtime folder counts if its path is absolute; what is empty or relative is none', () => {
  expect(placesWith('/run/user/7')).toEqual(['/run/user/7', '/dev/shm', '/tmp']);
  expect(placesWith('')).toEqual(['/dev/shm', '/tmp']);
  expect(placesWith('here')).toEqual(['/dev/shm', '/tmp']);
});

afterEach(() => vi.unstubAllEnvs());

test('the folder for temporary files is the one that node:os names', () => {
  const values = [undefined, '', '/', '/a', '/a/', '/a//', 'relative'];
  for (const name of ['TMPDIR', 'TMP', 'TEMP'])
    for (const value of values) {
      vi.unstubAllEnvs();
      for (const other of ['TMPDIR', 'TMP', 'TEMP']) vi.stubEnv(other, other === name ? value : undefined);
      expect([name, value, temporaryFolder(process.env)]).toEqual([name, value, tmpdir()]);
    }
});
