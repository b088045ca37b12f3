// `string lint` and `string new`, as an author has them: the built program, and no daemon.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { string as stringCommand } from '../conformance/kit/string-cli.js';
import { StringdUnderTest } from '../conformance/kit/stringd-under-test.js';
import { bin, run, type RunResult } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'string-lint-'));
afterAll(() => removeFolder(folder));

function string(...args: string[]): Promise<RunResult> {
  const env = {
    HOME: folder,
    STRING_ROOT: join(folder, 'string'),
    STRING_DATA_DIR: undefined,
    STRING_PORT: undefined,
  };
  return run([process.execPath, bin('string'), ...args], { cwd: folder, env });
}

describe('string lint', () => {
  test('says what is wrong, line by line, and ends with 1', async () => {
    writeFileSync(join(folder, 'bad.md'), '# A\n\n[!include:x](no.md)\n\n<!-- #b -->\n\n[Go][@nowhere]\n');
    const { code, stdout } = await string('lint', 'bad.md');
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'bad.md:3: NOT_FOUND: [!include:x]: there is no no.md',
      'bad.md:5: UNCLOSED_BLOCK: #b is never closed',
      'bad.md:7: UNKNOWN_SHORTCUT: [Go][@nowhere]: nothing is called @nowhere',
    ]);
    for (const args of [
      ['--json', 'lint', 'bad.md'],
      ['lint', '--json', join(folder, 'bad.md')],
    ]) {
      const json = await string(...args);
      expect(json.code).toBe(1);
      expect(JSON.parse(json.stdout)).toMatchObject({
        ok: false,
        findings: [{ line: 3 }, { line: 5 }, { line: 7 }],
      });
    }
  });

  test('has nothing to say about what is right, and takes a path from the root', async () => {
    writeFileSync(join(folder, 'good.md'), '# A\n');
    const { code, stdout } = await string('lint', join(folder, 'good.md'));
    expect([code, stdout.trimEnd()]).toEqual([0, `${join(folder, 'good.md')}: nothing found`]);
  });

  test('says what it cannot read, and how it is used', async () => {
    writeFileSync(join(folder, 'open.md'), '<!-- #b -->\n');
    const { code, stdout } = await string('lint', 'open.md', 'none.md', '.');
    expect([code, ...stdout.trimEnd().split('\n')]).toEqual([
      1,
      'open.md:1: UNCLOSED_BLOCK: #b is never closed',
      'none.md:1: NOT_FOUND: there is no such file',
      '.:1: LOAD_ERROR: cannot read it: not a file',
    ]);
    expect(await string('lint')).toMatchObject({ code: 2 });
    expect(await string('lint', '--what', 'good.md')).toMatchObject({ code: 2 });
  });
});

describe('string new', () => {
  test('makes the first files of an app and of a tool, which have no findings', async () => {
    const app = await string('new', 'app', 'my-app');
    expect(app.stdout).toContain('made my-app/string.md\nmade my-app/tips.md\n');
    expect(readFileSync(join(folder, 'my-app/string.md'), 'utf8')).toContain('name: my-app\ntype: app\n');
    expect((await string('new', 'tool', 'my-tool')).code).toBe(0);
    expect(await string('lint', 'my-app/string.md', 'my-app/tips.md', 'my-tool.md')).toMatchObject({
      code: 0,
    });
  });

  test('makes what can be installed and run', async () => {
    await using stringd = await StringdUnderTest.start();
    const say = async (...args: string[]): Promise<string> =>
      (await stringCommand(stringd, ['--raw', ...args], { cwd: stringd.home })).stdout;
    await say('new', 'app', 'my-app');
    await say('new', 'tool', 'my-tool');
    await say('/install ~/my-app');
    await say('/install ~/my-tool.md');
    expect(await say('/open app:my-app')).toContain('- @file-1 string.md\n- @file-2 tips.md');
    expect(await say('app:my-app', '/act.show @file-1 --lines 2')).toBe('---\ntitle: My app\n');
    expect(await say('/tool:my-tool hello "two words" $(id)')).toBe('hello\ntwo words\n$(id)\n');
  });

  test('never writes over anything', async () => {
    writeFileSync(join(folder, 'mine.md'), 'mine');
    expect(await string('new', 'tool', 'mine')).toMatchObject({ code: 1 });
    expect(readFileSync(join(folder, 'mine.md'), 'utf8')).toBe('mine');
  });

  test('says how it is used', async () => {
    for (const args of [
      ['new'],
      ['new', 'ap', 'x'],
      ['new', 'app'],
      ['new', 'app', '../x'],
      ['new', 'app', 'x', 'y'],
    ])
      expect((await string(...args)).code, args.join(' ')).toBe(2);
  });
});
