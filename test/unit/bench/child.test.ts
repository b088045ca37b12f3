import { describe, expect, test } from 'vitest';
import { BenchChild, measuredEnv, STDERR_TAIL_CHARS } from '../../../bench/harness/child.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';

const node = (script: string): string[] => [process.execPath, '-e', script];

describe('BenchChild', () => {
  test('a command that does not exist is named', async () => {
    await expect(BenchChild.start('peer x', ['/no/such/program'])).rejects.toThrow(
      'peer x cannot be started: ENOENT (/no/such/program)',
    );
  });

  test('closing it ends the whole group, also what ignores a polite request', async () => {
    const child = await BenchChild.start('stubborn', [
      '/bin/sh',
      '-c',
      'trap "" TERM; sleep 100 & echo $!; wait',
    ]);
    const [line] = (await child.stdout.take(1).toArray()) as Buffer[];
    const grandchild = Number(String(line));
    expect(isAlive(grandchild)).toBe(true);
    await child.close();
    await until(() => !isAlive(grandchild) && !isAlive(child.pid), 'the group to be gone');
  });

  test('closing one that has ended is no error', async () => {
    const child = await BenchChild.start('short', node('0'));
    child.stdout.resume();
    expect(await child.ended).toEqual({ code: 0, text: 'exited with code 0' });
    await child.close();
  });

  test('a failure tells how it ended and what stderr said', async () => {
    const child = await BenchChild.start('loud', node('console.error("no\\nway"); process.exit(3)'));
    child.stdout.resume();
    const { text } = await child.ended;
    expect(child.failure(text).message).toBe('loud exited with code 3; its stderr says:\n    no\n    way');
  });

  test('only the end of a long stderr is kept', async () => {
    const child = await BenchChild.start('chatty', node('process.stderr.write("x".repeat(1e5) + "the end")'));
    child.stdout.resume();
    await child.ended;
    const { message } = child.failure('stopped');
    expect(message).toMatch(/the end$/);
    expect(message.length).toBeLessThan(STDERR_TAIL_CHARS + 100);
  });

  test('silence on stderr is said as such', async () => {
    const child = await BenchChild.start('mute', node('0'));
    child.stdout.resume();
    await child.ended;
    expect(child.failure('stopped').message).toBe('mute stopped; it printed nothing on stderr');
  });
});

test('what would slow every Node child down is not in the measured environment', () => {
  const env = {
    PATH: '/bin',
    NODE_EXTRA_CA_CERTS: 'x',
    NODE_OPTIONS: 'x',
    npm_config_x: 'x',
    HAWSER_MARK: 'm',
  };
  expect(measuredEnv(env)).toEqual({ PATH: '/bin', HAWSER_MARK: 'm' });
});
