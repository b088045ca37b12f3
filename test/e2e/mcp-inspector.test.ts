// MCP Inspector's command line against `rex mcp`, in both eras.
//
// It is looked for in node_modules, or in the folder that MCP_INSPECTOR names:
//   npm install --prefix /some/where --ignore-scripts @modelcontextprotocol/inspector@2.12.0
//   MCP_INSPECTOR=/some/where/node_modules/@modelcontextprotocol/inspector npx vitest run --project e2e test/e2e/mcp-inspector.test.ts

import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findInspector } from '../helpers/inspector.js';
import { bin, run } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';

const inspector = findInspector();
if (inspector === undefined)
  process.stderr.write(
    'MCP Inspector is not there, so its tests are skipped: install @modelcontextprotocol/inspector and set MCP_INSPECTOR to its folder\n',
  );

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-inspector-')));
});

afterEach(() => {
  removeFolder(folder);
});

async function inspect(era: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const server = [process.execPath, bin('rex'), 'mcp'];
  const { stdout, stderr, code } = await run(
    [
      process.execPath,
      inspector ?? '',
      '--protocol-era',
      era,
      '--format',
      'json',
      '--quiet',
      ...server,
      ...args,
    ],
    { cwd: folder, env: { HOME: folder, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder } },
  );
  expect(code, stderr).toBe(0);
  return (JSON.parse(stdout) as { result: Record<string, unknown> }).result;
}

describe.skipIf(inspector === undefined).each(['legacy', 'modern'])('the %s era', (era) => {
  test('the tools are listed, and their schemas are found portable', async () => {
    const { tools } = await inspect(era, '--method', 'tools/list', '--strict');
    expect((tools as { name: string }[]).map(({ name }) => name)).toEqual(
      'bash read write edit list glob search'.split(' '),
    );
  });

  test('a command is run, and a file is read', async () => {
    const call = (name: string, ...args: readonly string[]) =>
      inspect(era, '--method', 'tools/call', '--tool-name', name, '--tool-arg', ...args);
    expect(await call('bash', 'command=echo out; exit 4')).toMatchObject({
      content: [{ type: 'text', text: 'out\n[exit code 4]' }],
      structuredContent: { exit_code: 4 },
    });
    writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\n');
    expect(await call('read', 'path=a.txt', 'start_line=2', 'end_line=2')).toMatchObject({
      content: [{ type: 'text', text: '2\ttwo' }],
    });
  });

  test('the prompt is there', async () => {
    const got = await inspect(era, '--method', 'prompts/get', '--prompt-name', 'target');
    expect(got).toMatchObject({
      messages: [{ content: { text: expect.stringContaining('The tools work on the target local') } }],
    });
  });
});
