// The prompt of string on a real terminal.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPty } from '../../src/host/pty/open-pty.js';
import type { Pty } from '../../src/host/pty/pty.js';
import { stringEnvironment } from '../conformance/kit/string-cli.js';
import { StringdUnderTest } from '../conformance/kit/stringd-under-test.js';
import { bin } from '../helpers/program.js';
import { until } from '../helpers/wait.js';

let stringd: StringdUnderTest;
beforeAll(async () => {
  stringd = await StringdUnderTest.start();
}, 60_000);
afterAll(async () => await stringd[Symbol.asyncDispose]());

const WAIT_MS = 60_000;

/** A terminal and all that was shown on it so far. */
class Screen implements AsyncDisposable {
  seen = '';
  readonly #pty: Pty;
  readonly #reading: Promise<void>;

  /** `before`: what is to start it. */
  static async open(args: string, before = ''): Promise<Screen> {
    const string = `${before} '${process.execPath}' '${bin('string')}'`;
    const argv = ['sh', '-c', `${string} ${args}; echo ended with $?`];
    const env = { ...process.env, ...stringEnvironment(stringd), TERM: 'xterm' };
    return new Screen(await openPty({ argv, env, cwd: stringd.base, cols: 100, rows: 30 }));
  }

  constructor(pty: Pty) {
    this.#pty = pty;
    this.#reading = (async () => {
      const decoder = new TextDecoder(); // a character may come in two pieces
      for await (const { data } of pty.output()) this.seen += decoder.decode(data, { stream: true });
    })();
  }

  async type(text: string): Promise<void> {
    await this.#pty.write(Buffer.from(text));
  }

  /** Waits for the text after what was waited for before. */
  async shows(text: string): Promise<void> {
    await until(
      () => this.seen.includes(text),
      `${JSON.stringify(text)} on ${JSON.stringify(this.seen.slice(-600))}`,
      WAIT_MS,
    );
    this.seen = this.seen.slice(this.seen.indexOf(text) + text.length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pty.close();
    await this.#reading;
  }
}

test('what a stranger has written does not drive the terminal, whoever shows it', async () => {
  const { json } = await stringd.post('hi \u001b]0;owned\u0007\u009b31m');
  const read = `/events.read ${String(json['event_id'])}`;
  const shown = String.raw`hi \x1b]0;owned\x07\x9b31m`;
  for (const args of [
    `main '${read}'`,
    `event '${read}'`,
    'main /events',
    `--chanflow <<'E'\n<𝒞=string:main>\n${read}\n</𝒞>\nE\n:`,
  ]) {
    await using screen = await Screen.open(args);
    await screen.shows(shown);
    await screen.shows('ended with 0');
    expect(screen.seen).not.toContain('owned\u0007');
  }
});

test('commands, bodies of several lines, another topic, and the end', async () => {
  await using screen = await Screen.open('notes');
  await screen.shows('[notes] > ');
  await screen.type('/set {a} = "one"\r');
  await screen.shows('<𝒞=string:notes>\r\n{a} = "one"\r\n</𝒞>');
  await screen.shows('[notes] > ');
  await screen.type('/set <<END\r');
  await screen.shows('... ');
  await screen.type('{b} = 2\r{c} = 3\rEND\r');
  await screen.shows('{b} = "2"\r\n{c} = "3"');
  await screen.shows('[notes] > ');
  await screen.type('/topic other\r');
  await screen.shows('[other] > ');
  await screen.type('/exit\r');
  await screen.shows('ended with 0');
  const history = join(stringd.base, 'string/history');
  expect(readFileSync(history, 'utf8')).toBe('/set {a} = "one"\n/set <<END\n/topic other\n/exit\n');
  expect(statSync(history).mode & 0o777).toBe(0o600);
});

test('Ctrl-C calls off what runs and what is typed, not the prompt; Ctrl-D leaves', async () => {
  await using screen = await Screen.open('bash:prompt');
  await screen.shows('[bash:prompt] > ');
  const began = join(stringd.home, 'began');
  await screen.type(`touch '${began}'; sleep 600\r`);
  const executing = async (): Promise<boolean> =>
    (await stringd.ask('/sessions')).text.includes('"executing":true');
  await until(() => existsSync(began), 'the command to run', WAIT_MS);
  await screen.type('\u0003');
  await screen.shows('called off');
  await screen.shows('[bash:prompt] > ');
  await screen.type('not meant\u0003');
  await screen.shows('(Ctrl-D or /exit leaves)');
  await screen.type('echo "still $((40 + 2))"\r');
  await screen.shows('still 42');
  await screen.shows('[bash:prompt] > ');
  await screen.type('//close\r');
  await screen.shows('Bash session closed.');
  await screen.shows('[bash:prompt] > ');
  await screen.type('\u0004');
  await screen.shows('ended with 0');
  const isOver = until(async () => !(await executing()), 'the command to end', WAIT_MS);
  await expect(isOver).resolves.toBe(true);
});

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s calls off what runs and ends the prompt', async (signal, code) => {
  const topic = `bash:${signal.toLowerCase()}`;
  await using screen = await Screen.open(topic, `sh -c 'echo "pid=$$."; exec "$@"' sh`);
  await screen.shows('pid=');
  await until(() => screen.seen.includes('.'), 'its pid', WAIT_MS);
  const pid = Number.parseInt(screen.seen, 10);
  await screen.shows(`[${topic}] > `);
  const began = join(stringd.home, signal);
  await screen.type(`touch '${began}'; sleep 600\r`);
  await until(() => existsSync(began), 'the command to run', WAIT_MS);
  process.kill(pid, signal);
  await screen.shows(`ended with ${code}`);
  const sessions = async (): Promise<string> => (await stringd.ask('/sessions')).text;
  await until(async () => !(await sessions()).includes('"executing":true'), 'the command to end', WAIT_MS);
  expect((await stringd.exec(topic, '//close')).text).toContain('Bash session closed');
});

test('what was typed before is there again', async () => {
  await using screen = await Screen.open('memory');
  await screen.shows('[memory] > ');
  await screen.type('/set {unique} = 7\r');
  await screen.shows('{unique} = "7"');
  await screen.shows('[memory] > ');
  await screen.type('\u0004');
  await screen.shows('ended with 0');
  await using next = await Screen.open('memory');
  await next.shows('[memory] > ');
  await next.type('\u001b[A');
  await next.shows('/set {unique} = 7');
  await next.type('0\r');
  await next.shows('{unique} = "70"');
  await next.shows('[memory] > ');
  await next.type('\u0004');
  await next.shows('ended with 0');
  expect((await stringd.exec('memory', '/set')).text).toContain('70');
});
