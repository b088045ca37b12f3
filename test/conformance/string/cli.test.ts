// The command line of String against a daemon that runs: calls, answers, exit codes.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bin, Program } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { string, stringEnvironment } from '../kit/string-cli.js';
import { shareStringd, type StringdUnderTest } from '../kit/stringd-under-test.js';
import { verifies } from '../kit/verifies.js';

const shared = shareStringd();

/** What is executed now or waits, of the agent `me`. */
async function sessionOf(stringd: StringdUnderTest, topic: string) {
  const { sessions } = (await stringd.ask('/sessions?agent_id=me')).json as {
    sessions: { topic: string; executing: boolean; queue_length: number }[];
  };
  return sessions.find((session) => session.topic === topic);
}

const isExecuting = async (stringd: StringdUnderTest, topic: string): Promise<boolean> =>
  (await sessionOf(stringd, topic))?.executing === true;

const block = (topic: string, text: string): string => `<𝒞=string:${topic}>\n${text}\n</𝒞>\n`;

verifies(['string/cli/one-shot', 'string/cli/home-kept'], async () => {
  const stringd = shared();
  const before = (await stringd.ask('/agents')).json;
  const { code, stdout, stderr } = await string(stringd, ['file:notes', '/info']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^<𝒞=string:notes>\nSession info\n---\n[^]*\n<\/𝒞>\n$/u);
  expect((await stringd.ask('/agents')).json).toEqual(before);
});

verifies(['string/cli/failure', 'string/cli/json'], async () => {
  const stringd = shared();
  const failed = await string(stringd, ['notes', 'plain text']);
  expect(failed).toMatchObject({
    code: 1,
    stdout:
      '<𝒞=string:notes>\nERROR(COMMAND_UNSUPPORTED): Commands must start with /. Use /help for details.\n</𝒞>\n',
  });
  const json = await string(stringd, ['--json', 'notes', '/set {a} = "x"']);
  expect(json).toMatchObject({ code: 0, stdout: '{"ok":true,"topic":"notes","content":"{a} = \\"x\\""}\n' });
  const no = await string(stringd, ['--json', 'notes', '/nope']);
  expect([no.code, JSON.parse(no.stdout)]).toEqual([
    1,
    {
      ok: false,
      topic: 'notes',
      code: 'COMMAND_UNSUPPORTED',
      content: expect.stringContaining('Unknown command: /nope'),
    },
  ]);
});

verifies('string/cli/raw', async () => {
  const stringd = shared();
  const { code, stdout } = await string(stringd, ['--raw', '/exec', 'sh', '-c', 'echo out; exit 7']);
  expect([code, stdout]).toEqual([
    7,
    expect.stringMatching(/^ERROR\(EXIT_7\): exit: 7 \| cwd: .*\n---\nout\n$/u),
  ]);
  expect((await string(stringd, ['/exec exit 7'])).code).toBe(1);
});

verifies(['string/cli/default-topic', 'string/cli/hubs'], async () => {
  const stringd = shared();
  expect((await string(stringd, ['/info'])).stdout).toMatch(/^<𝒞=string:main>\n/u);
  expect((await string(stringd, ['/open', 'system'])).stdout).toMatch(/^<𝒞=string:system>\n# system hub\n/u);
  expect((await string(stringd, ['event'])).stdout).toMatch(/^<𝒞=string:event>\n# event inbox\n/u);
  const { json } = await stringd.post('hello');
  const id = String(json['event_id']);
  expect((await string(stringd, ['event', 'ack', id])).stdout).toBe(`<𝒞=string:event>\nAcked ${id}\n</𝒞>\n`);
});

verifies('string/cli/words', async () => {
  const stringd = shared();
  const words = ["it's", 'a  b', '', '$HOME', '*', '"q"'];
  const { stdout } = await string(stringd, ['--raw', '/exec', 'printf', String.raw`<%s>\n`, ...words]);
  expect(stdout.split('---\n')[1]).toBe(words.map((word) => `<${word}>\n`).join(''));
  const one = await string(stringd, ['--raw', '/exec echo "a  b" | tr a-z A-Z']);
  expect(one.stdout.split('---\n')[1]).toBe('A  B\n');
});

verifies(['string/cli/stdin', 'string/cli/argv'], async () => {
  const stringd = shared();
  const command = await string(stringd, ['notes', '-'], { input: '/set {a} = "from stdin"\n' });
  expect(command.stdout).toContain('{a} = "from stdin"');
  const body = await string(stringd, ['notes', '/set', '-'], { input: '{b} = 1\n{c} = 2\n' });
  expect(body.stdout).toContain('{b} = "1"\n{c} = "2"');
  await using child = new Program([process.execPath, bin('string'), 'notes', '-'], {
    env: stringEnvironment(stringd),
  });
  child.write('/exec echo s3cret-body');
  const argv = readFileSync(`/proc/${child.child.pid}/cmdline`, 'utf8');
  child.endInput();
  expect([await child.rest(), argv]).toEqual([
    expect.arrayContaining(['s3cret-body']),
    expect.not.stringContaining('s3cret'),
  ]);
});

verifies('string/cli/piped-prompt', async () => {
  const stringd = shared();
  const input = '/set {a} = "1"\r\n\n/write x <<END\nEND\n/topic other\n/set\n/exit\n/set {never} = 1\n';
  const { code, stdout, stderr } = await string(stringd, ['main'], { input });
  expect(stdout.match(/^<𝒞=string:\S+>$/gmu)).toEqual([
    '<𝒞=string:main>',
    '<𝒞=string:main>',
    '<𝒞=string:other>',
  ]);
  expect([code, stderr]).toEqual([1, '']); // /write is not there yet, and a script should know
  expect((await string(stringd, ['main'], { input: '/set' })).stdout).toBe(
    '<𝒞=string:main>\nVariables\n---\n{a} = "1"\n</𝒞>\n',
  );
});

verifies('string/cli/agent', async () => {
  const stringd = shared();
  for (const agent_id of ['a', 'b', 'c']) await stringd.ask('/agents', { json: { agent_id } });
  const project = join(stringd.base, 'project/deep');
  mkdirSync(join(stringd.base, 'project/.string'), { recursive: true });
  mkdirSync(project, { recursive: true });
  writeFileSync(join(stringd.base, 'project/.string/config.json'), '{"currentAgent":"c"}');
  const who = async (
    args: string[],
    env: Record<string, string | undefined>,
  ): Promise<string | undefined> => {
    const { stdout } = await string(stringd, [...args, 'agent', 'list'], { cwd: project, env });
    return /^\* (\S+)/mu.exec(stdout)?.[1];
  };
  expect(await who(['--agent=a'], { STRING_AGENT_ID: 'b' })).toBe('a');
  expect(await who([], { STRING_AGENT_ID: 'b' })).toBe('b');
  expect(await who([], { STRING_AGENT_ID: undefined })).toBe('c');
});

verifies('string/cli/agent-use', async () => {
  const stringd = shared();
  const project = join(stringd.base, 'other-project');
  mkdirSync(project, { recursive: true });
  const env = { STRING_AGENT_ID: undefined };
  const file = join(project, '.string/config.json');
  expect((await string(stringd, ['agent', 'use', 'me', '--local'], { cwd: project, env })).stdout).toBe(
    `<𝒞=string:agent>\nCurrent agent set to 'me' (local: ${file}).\n</𝒞>\n`,
  );
  expect((await string(stringd, ['agent', 'current'], { cwd: project, env })).stdout).toBe(
    `<𝒞=string:agent>\nme\t${stringd.home}\tconfig: ${file}\n</𝒞>\n`,
  );
});

verifies('string/cli/queue', async () => {
  const stringd = shared();
  const first = stringd.exec('main', '/exec cat > /dev/null; sleep 600', { request_id: 'first' });
  await until(() => isExecuting(stringd, 'main'), 'the first to run');
  const waiting = Array.from({ length: 5 }, (_, at) =>
    stringd.exec('main', '/info', { request_id: `w${at}` }),
  );
  await until(async () => (await sessionOf(stringd, 'main'))?.queue_length === 5, 'five to wait');
  const { code, stdout, stderr } = await string(stringd, ['main', '/info']);
  expect([code, stdout]).toEqual([
    1,
    '<𝒞=string:main>\nERROR(QUEUE_FULL): Topic me:main has 5 commands queued. Try again later.\n</𝒞>\n',
  ]);
  expect(stderr).toContain('has not run');
  await stringd.ask('/exec/first', { method: 'DELETE', headers: { 'X-Agent-Id': 'me' } });
  await Promise.all([first, ...waiting]);
});

verifies('string/cli/timeout', async () => {
  const stringd = shared();
  const { code, stdout, stderr } = await string(stringd, ['--timeout', '300ms', 'main', '/exec sleep 600']);
  expect([code, stdout, stderr]).toEqual([124, '', expect.stringContaining('out of time after 300 ms')]);
  await until(async () => !(await isExecuting(stringd, 'main')), 'the command to be called off');
});

verifies('string/cli/interrupt', async () => {
  const stringd = shared();
  await using child = new Program([process.execPath, bin('string'), 'main', '/exec sleep 600'], {
    env: stringEnvironment(stringd),
  });
  await until(() => isExecuting(stringd, 'main'), 'the command to run');
  child.child.kill('SIGINT');
  expect(await child.ended).toMatchObject({ code: 130 });
  await until(async () => !(await isExecuting(stringd, 'main')), 'the command to be called off');
});

verifies('string/cli/chanflow-exit', async () => {
  const { code, stdout } = await string(shared(), ['--chanflow'], { input: block('main', 'plain text') });
  expect([code, stdout]).toEqual([0, expect.stringContaining('✗ COMMAND_UNSUPPORTED')]);
});

verifies('string/cli/chanflow-timeout', async () => {
  const stringd = shared();
  const input = `${block('slow', '/exec sleep 600')}between\n${block('after', '/info')}`;
  const { code, stdout } = await string(stringd, ['--timeout', '300ms', '--chanflow'], { input });
  const answers = stdout.replaceAll(/ time="[^"]*"/gu, '');
  expect([code, answers]).toEqual([
    124,
    `${block('slow', '✗ TIMEOUT: out of time after 300 ms; the command was called off')}between\n${block(
      'after',
      '✗ CANCELLED: not begun: a block before it ran out of time',
    )}`,
  ]);
  await until(async () => !(await isExecuting(stringd, 'slow')), 'the block to be called off');
  expect(await sessionOf(stringd, 'after')).toBeUndefined();
});

verifies('string/cli/chanflow-interrupt', async () => {
  const stringd = shared();
  for (const [signal, ending] of [
    ['SIGINT', { code: 130 }],
    ['SIGKILL', { signal: 'SIGKILL' }],
  ] as const) {
    await using child = new Program([process.execPath, bin('string'), '--chanflow'], {
      env: stringEnvironment(stringd),
    });
    child.write(`${block(signal, '/exec sleep 600')}${block('never', '/info')}`);
    await until(() => isExecuting(stringd, signal), 'the block to run');
    child.child.kill(signal);
    expect(await child.ended).toMatchObject(ending);
    await until(async () => !(await isExecuting(stringd, signal)), 'the block to be called off');
  }
  expect(await sessionOf(stringd, 'never')).toBeUndefined();
});
