// rexd as a single binary, made from these sources and copied alone to a host that has not even Node.

import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type BinaryProcessor, binaryFor, whyNoBinary } from '../../scripts/build-binary.js';
import { Alone } from '../helpers/alone.js';
import { testAlone } from '../helpers/alone-tests.js';
import { run } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';

const processor = process.arch as BinaryProcessor;
const problem = whyNoBinary(processor);

const folder = mkdtempSync(join(tmpdir(), 'hawser-binary-'));
afterAll(() => removeFolder(folder));

describe.skipIf(problem !== undefined)(`the binary${problem === undefined ? '' : ` (${problem})`}`, () => {
  testAlone(() => new Alone(binaryFor(processor)));

  test('takes nothing from the folder it is started in', async () => {
    writeFileSync(join(folder, '.env'), 'PATH=/nowhere\nXDG_CONFIG_HOME=/nowhere\n');
    writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./planted.js"]\n');
    writeFileSync(join(folder, 'planted.js'), 'require("fs").writeFileSync("ran", "");\n');
    const { code, stdout } = await run([binaryFor(processor), '--version'], { cwd: folder });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^rexd \d/)]);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  test('input that is not read makes its writer wait, and nothing is lost', async () => {
    await using server = new Alone(binaryFor(processor));
    const { session_id } = await server.call('session.open', {
      client_name: 'alone',
      workspace_roots: [server.root],
    });
    const argv = ['sh', '-c', 'sleep 0.3; wc -c'];
    const { process_id } = await server.call('exec.start', { session_id, argv });
    const data = 'x'.repeat(500_000);
    for (const eof of [false, false, true])
      await server.call('exec.input', { session_id, process_id, data, eof });
    await server.until('exec.exit');
    expect(server.textOf('exec.stdout').trim()).toBe('1500000');
  });
});
