import { expect, test } from 'vitest';
import { actionsOf, MAX_ACTIONS } from '../../../../src/string/actions/action-page.js';
import { MAX_COMMAND_OUTPUT_BYTES, runCommand } from '../../../../src/string/actions/run-command.js';
import { COMMAND_ACTION_TIMEOUT_MS } from '../../../../src/string/actions/run-command-action.js';
import { parsePage } from '../../../../src/string/document/page.js';
import { fence, makeActPlace } from './act-place.js';

test(`a page has up to ${MAX_ACTIONS} actions (MAX_ACTIONS)`, () => {
  const text = Array.from({ length: MAX_ACTIONS + 1 }, (_, n) => fence(`a${n}`, 'CLI x')).join('');
  expect(actionsOf(parsePage(text)).all).toHaveLength(MAX_ACTIONS);
});

test('of what a command prints, a template sees MAX_COMMAND_OUTPUT_BYTES', async () => {
  await using place = makeActPlace();
  const run = await runCommand({
    script: `head -c ${MAX_COMMAND_OUTPUT_BYTES + 100_000} /dev/zero | tr '\\0' x`,
    args: [],
    env: { PATH: process.env['PATH'] ?? '' },
    large: {},
    cwd: place.home,
    timeoutMs: 60_000,
    signal: AbortSignal.timeout(60_000),
    spoolDir: place.dataDir,
    emit: undefined,
    apart: true,
  });
  expect(run).toMatchObject({ ended: 'exit', status: 0 });
  expect(run.stdout).toHaveLength(MAX_COMMAND_OUTPUT_BYTES);
  await run.output.spool?.close();
});

test('a command has half a minute unless its action says otherwise', () => {
  expect(COMMAND_ACTION_TIMEOUT_MS).toBe(30_000);
});
