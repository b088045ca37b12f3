// The executable stringd: flags, environment, readiness, signals.

import { expect } from 'vitest';
import { bin, Program } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { StringdUnderTest } from '../kit/stringd-under-test.js';
import { skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';

async function run(args: readonly string[], env: Record<string, string> = {}) {
  await using program = new Program([process.execPath, bin('stringd'), ...args], { env });
  program.endInput();
  const lines = await program.rest();
  const { code } = await program.ended;
  return { code, stdout: lines.join('\n'), stderr: program.stderr };
}

verifies('string/bin/port', async (_, skip) => {
  skipForeign(skip);
  for (const STRING_PORT of ['0', 'abc', '-1', '1.5', '65536']) {
    const { code, stderr } = await run([], { STRING_PORT });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`STRING_PORT=${JSON.stringify(STRING_PORT)}`),
    ]);
  }
});

verifies('string/bin/flags', async (_, skip) => {
  skipForeign(skip);
  const help = await run(['--help']);
  expect([help.code, help.stderr]).toEqual([0, '']);
  expect(help.stdout).toContain('Examples:');
  expect((await run(['--version'])).stdout).toMatch(/^stringd \d+\.\d+\.\d+$/);
  const wrong = await run(['--prot', '1']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean --port?')]);
});

verifies('string/bin/second', async (_, skip) => {
  skipForeign(skip);
  await using stringd = await StringdUnderTest.start();
  await until(() => stringd.stderr.includes(`stringd: listening on ${stringd.url}\n`), 'its word');
  for (const data of [stringd.base, `${stringd.base}/other`]) {
    const { code, stderr } = await run([], {
      STRING_PORT: String(stringd.port),
      STRING_ROOT: `${data}/string`,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^stringd: stringd \\S+ is already running on port ${stringd.port} .* \\[already_running\\]\n$`,
        's',
      ),
    );
  }
  const shared = await run(['--port', '0'], { STRING_ROOT: `${stringd.base}/string`, STRING_PORT: '' });
  expect([shared.code, shared.stderr]).toEqual([1, expect.stringContaining(`process ${stringd.child.pid}`)]);
});

verifies('string/bin/signals', async (_, skip) => {
  skipForeign(skip);
  for (const [signal, code] of [
    ['SIGTERM', 0],
    ['SIGINT', 130],
  ] as const) {
    await using stringd = await StringdUnderTest.start();
    using stream = stringd.stream('/events/stream', { headers: { 'X-Agent-Id': 'me' } });
    await stream.event('ready');
    stringd.child.kill(signal);
    expect(await stringd.ended).toEqual({ code, signal: null });
    expect(stringd.stderr).not.toMatch(/error/i);
  }
});

verifies('string/bin/with-stdin', async (_, skip) => {
  skipForeign(skip);
  await using stringd = await StringdUnderTest.start({ args: ['--end-with-stdin'] });
  expect((await stringd.ask('/health')).status).toBe(200);
  stringd.endInput();
  expect(await stringd.ended).toEqual({ code: 0, signal: null });
  // Nothing holds /dev/null.
  const script = 'exec "$0" "$@" < /dev/null';
  const env = { STRING_ROOT: `${stringd.base}/second` };
  const argv = [process.execPath, bin('stringd'), '--port', '0', '--end-with-stdin'];
  await using program = new Program(['/bin/sh', '-c', script, ...argv], { env });
  expect(await program.ended).toMatchObject({ code: 0 });
});
