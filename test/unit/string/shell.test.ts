// Bash topics: a real shell on a real terminal.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BashShell,
  CTRL_C,
  MARK_WAIT_MS,
  PROMPT_WAIT_MS,
  SHELL_START_MS,
} from '../../../src/string/shell/bash-shell.js';
import { INTERRUPT_WAIT_MS, SUBMISSION_TIMEOUT_MS } from '../../../src/string/bash/follow.js';
import {
  QUIET_BEFORE_WAITING_MS,
  QUIET_PROMPT_MS,
  waitForEnd,
} from '../../../src/string/shell/wait-for-end.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { makePlace, type Place, topicOf } from './place.js';

const SHELL = 'bash:dev';
const MAX_REPORT_MS = 3000;

async function body(place: Place, cmd: string): Promise<string> {
  const { content } = await place.run(SHELL, cmd);
  return content.slice(content.indexOf('\n---\n') + 5);
}

test('what a command sets stays: folder, variables, functions, and $?', async () => {
  await using place = makePlace();
  mkdirSync(join(place.home, 'sub dir'));
  expect(await place.run(SHELL, 'echo "$HOME"; echo err >&2')).toMatchObject({
    ok: true,
    code: null,
    content: `exit: 0 | cwd: ${place.home}\n---\n${place.home}\nerr`,
    topic: { type: 'bash', name: SHELL },
  });
  expect(await place.run(SHELL, 'cd "sub dir"; X=5; f() { echo "f $1"; }; (exit 3)')).toMatchObject({
    ok: false,
    code: 'EXIT_3',
    content: `exit: 3 | cwd: ${place.home}/sub dir\n---\n(no output)`,
  });
  expect(await body(place, 'echo "$? $X"; f y; pwd')).toBe(`3 5\nf y\n${place.home}/sub dir`);
  expect(await place.run('bash:other', 'echo "[$X]"; pwd')).toMatchObject({
    content: `exit: 0 | cwd: ${place.home}\n---\n[]\n${place.home}`,
  });
});

test('Ctrl-C before the shell has read its command: the command has ended, and the next one runs', async () => {
  await using place = makePlace();
  await using shell = await startShell(place);
  for (let turn = 0; turn < 20; turn++) {
    const submission = await shell.submit('sleep 600');
    // Pressed until it has ended, as people do: one that comes while the program is being started reaches nobody.
    await until(async () => {
      await shell.type(CTRL_C);
      return await Promise.race([submission.ended.then(() => true), delay(500, false)]);
    }, 'the command to end');
    expect(await submission.ended).toMatchObject({ shellEnded: false });
  }
  expect(await (await shell.submit('(exit 7)')).ended).toMatchObject({ status: 7 });
});

test('a line that begins with one slash is for the shell, also one that names a command of ours', async () => {
  await using place = makePlace();
  expect(await body(place, '/bin/echo x')).toBe('x');
  expect(await place.run(SHELL, '/topics')).toMatchObject({ code: 'EXIT_127' });
});

test('nothing hangs: open quotes, here documents, several lines, errors that break off', async () => {
  await using place = makePlace();
  expect(await place.run(SHELL, "echo 'open")).toMatchObject({
    code: 'EXIT_2',
    content: expect.stringContaining('unexpected EOF'),
  });
  expect(await body(place, 'cat <<X\na\nb\nX\necho c')).toBe('a\nb\nc');
  expect(await place.run(SHELL, 'if true; then')).toMatchObject({ ok: false, code: 'EXIT_2' });
  expect(await place.run(SHELL, 'set -u; echo $nope; echo not here')).toMatchObject({ code: 'EXIT_1' });
  expect(await body(place, 'echo "$?"; set +u')).toBe('1');
  expect(await place.run(SHELL, 'nope_nope')).toMatchObject({
    code: 'EXIT_127',
    content: expect.stringMatching(/\nbash: (line 1: )?nope_nope: command not found$/),
  });
});

describe('a program that reads the terminal', () => {
  test('is told within 3 s, with its prompt, and can be answered', async () => {
    await using place = makePlace();
    await place.run(SHELL, 'true');
    expect(await place.run(SHELL, 'read -p "Name? " n; echo "hi $n"')).toMatchObject({
      ok: false,
      code: 'WAITING_FOR_INPUT',
      content: expect.stringMatching(/^state: waiting_for_input \| cwd: .*\n---\nName\?$/s),
    });
    // As soon as it has been quiet for so long.
    expect(QUIET_BEFORE_WAITING_MS).toBeLessThan(QUIET_PROMPT_MS);
    expect(QUIET_PROMPT_MS).toBeLessThan(MAX_REPORT_MS);
    expect((await place.run(SHELL, '//info')).content).toContain('state: waiting_for_input');
    expect(await place.run(SHELL, 'echo x')).toMatchObject({ ok: false, code: 'BUSY' });
    expect(await place.run(SHELL, '//send Bob')).toMatchObject({
      ok: true,
      content: expect.stringMatching(/^exit: 0 .*\n---\nhi Bob$/),
    });
    expect((await place.run(SHELL, '//info')).content).toContain('state: idle');
    expect(await place.run(SHELL, '//send again')).toMatchObject({ code: 'INVALID_TARGET' });
  });

  test('cannot swallow the end of its command, and goes by Ctrl-C', async () => {
    await using place = makePlace();
    expect(await place.run(SHELL, 'cat')).toMatchObject({ code: 'WAITING_FOR_INPUT' });
    expect(await place.run(SHELL, '//interrupt')).toMatchObject({
      ok: true,
      content: expect.stringMatching(/^Interrupted\. exit: 130/),
    });
    expect(await body(place, 'echo "$?"')).toBe('130');
    expect((await place.run(SHELL, '//interrupt')).content).toBe('Nothing is running.');
  });

  test('a shell in the shell is one, too', async () => {
    await using place = makePlace();
    expect(await place.run(SHELL, 'PS1="inner> " bash --norc')).toMatchObject({
      code: 'WAITING_FOR_INPUT',
      content: expect.stringContaining('inner>'),
    });
    const { code } = await place.run(SHELL, '//send exit 7');
    expect(['EXIT_7', 'WAITING_FOR_INPUT']).toContain(code); // the latter where the machine has no time for it
    await until(
      () => place.run(SHELL, '//info').then(({ content }) => content.includes('last exit: 7')),
      'its end',
    );
  });
});

describe('nobody but the shell says that a command has ended', () => {
  test('text that looks like it is text', async () => {
    await using place = makePlace();
    const nonce = '0'.repeat(32);
    expect(
      await body(
        place,
        `printf 'c ${nonce} 0 /x\\n'; printf '\\036${nonce}\\036\\n'; sleep 0.2; echo real end`,
      ),
    ).toContain('real end');
  });

  test('whatever is printed, the status is the one of the command, and its last line is the last', async () => {
    await using place = makePlace();
    const secret = 'f'.repeat(32);
    const piece = fc.constantFrom(
      '\\036',
      '\\0',
      `c ${secret} 0 /`,
      'p 1',
      'p 2',
      secret,
      '\\r',
      '\\n',
      '\\033[',
      '\\033]0;',
      '\\004',
      '\\003',
      '%%',
      'ü',
    );
    const status = fc.integer({ min: 0, max: 255 });
    let line = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), status, async (pieces, code) => {
        const end = `end ${(line += 1)}`;
        const outcome = await place.run(
          SHELL,
          `printf '${pieces.join('')}\\033\\\\\\n'; echo ${end}; (exit ${code})`,
        );
        expect(outcome.content.startsWith(`exit: ${code} | cwd: ${place.home}\n---\n`)).toBe(true);
        expect(outcome.content.endsWith(end)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('what runs in the shell has no way to the pipe, and nothing is in its environment', async () => {
    await using place = makePlace();
    const { content } = await place.run(SHELL, 'printf "c x 0 /\\0" >&200; sh -c "ls /proc/self/fd"; env');
    expect(content).toContain('200: Bad file descriptor');
    expect(content).not.toMatch(/^200$/m);
    expect(content).not.toMatch(/PROMPT_COMMAND|nonce/i);
  });

  test('the folder is the real one, whatever $PWD says, and links stay as they were walked', async () => {
    await using place = makePlace();
    mkdirSync(join(place.home, 'real'));
    expect((await place.run(SHELL, 'ln -s real link; cd link')).content).toContain(`cwd: ${place.home}/link`);
    expect((await place.run(SHELL, 'PWD=/nowhere')).content).toContain(`cwd: ${place.home}/real`);
    expect((await place.run(SHELL, 'unset PWD')).content).toContain(`cwd: ${place.home}/real`);
  });

  test('a prompt of somebody else, traps, functions of our names, outputs that are led away', async () => {
    await using place = makePlace();
    expect(
      await body(
        place,
        'PS1="mine> " PROMPT_COMMAND="echo noise"; printf() { echo fake; }; alias printf=false; echo a',
      ),
    ).toBe('a');
    expect(await body(place, 'echo b')).toBe('b');
    expect(await place.run(SHELL, 'exec >log.txt 2>&1')).toMatchObject({ ok: true });
    expect(await body(place, 'echo to the file')).toBe('(no output)');
    expect(await body(place, 'exec >/dev/tty 2>&1; cat log.txt')).toBe('to the file');
  });
});

describe('the end of a shell', () => {
  test('its status is told, and the next command has a new one', async () => {
    await using place = makePlace();
    await place.run(SHELL, 'X=1');
    expect(await place.run(SHELL, 'echo bye; exit 4')).toMatchObject({
      ok: false,
      code: 'EXIT_4',
      content: expect.stringContaining('bye\n(the shell has ended'),
    });
    expect((await place.run(SHELL, '//info')).content).toContain('pid: none');
    expect(await body(place, 'echo "[$X]"')).toBe('[]');
    expect(await place.run(SHELL, 'kill -9 $$')).toMatchObject({ ok: false, code: 'EXIT_137' });
    expect((await place.run('main', '/topics bash')).content).toContain('bash:dev  bash  (no shell)');
    expect(await place.run(SHELL, 'set -e; false; echo no')).toMatchObject({
      code: 'EXIT_1',
      content: expect.stringContaining('the shell has ended'),
    });
  });

  test('//close, /session close and the end of the runtime leave nobody behind', async () => {
    await using place = makePlace();
    const start = async (topic: string): Promise<number[]> => {
      const { content } = await place.run(
        topic,
        'echo $$; sleep 100 & (setsid sleep 100 >/dev/null & echo $!); jobs -p',
      );
      return content
        .split('\n')
        .filter((line) => /^\d+$/.test(line))
        .map(Number);
    };
    const first = await start(SHELL);
    expect(first).toHaveLength(3);
    expect(first.every(isAlive)).toBe(true);
    expect(await place.run(SHELL, '//close')).toMatchObject({ ok: true, content: 'Bash session closed.' });
    expect(first.some(isAlive)).toBe(false);
    expect(place.runtime.topics()).toEqual([]);
    const second = await start('bash:b');
    await place.run('main', '/session close bash:b');
    expect(second.some(isAlive)).toBe(false);
    const third = await start('bash:c');
    expect(await place.runtime.closeTopic(topicOf('bash:c'))).toBe(true);
    expect(third.some(isAlive)).toBe(false);
    const fourth = await start('bash:d');
    await place.restart();
    expect(fourth.some(isAlive)).toBe(false);
    expect((await place.run('bash', '/open')).content).toContain('bash:d  (no shell)');
  });

  test('a command that runs is told when its topic is closed', async () => {
    await using place = makePlace();
    const running = place.run(SHELL, 'sleep 100');
    await until(
      () => place.run(SHELL, '//info').then(({ content }) => content.includes('state: running')),
      'the command',
    );
    await place.runtime.closeTopic(topicOf(SHELL));
    expect(await running).toMatchObject({
      ok: false,
      code: expect.stringMatching(/^EXIT_/),
      content: expect.stringContaining('the shell has ended'),
    });
  });
});

describe('time', () => {
  test('a command that is called off is interrupted, and the shell goes on', async () => {
    await using place = makePlace();
    const cancel = new AbortController();
    const outcome = place.run(SHELL, 'X=kept; echo begun; sleep 100', {
      signal: cancel.signal,
      emit: () => cancel.abort(),
    });
    expect(await outcome).toMatchObject({
      ok: false,
      code: 'CANCELLED',
      content: expect.stringContaining('begun'),
    });
    // On a busy machine the shell may come to its prompt only later.
    await until(async () => (await body(place, '//info')).includes('state: idle'), 'the shell to be idle');
    expect(await body(place, 'echo "$? $X"')).toBe('130 kept');
  });

  test('a program that puts things in order when it is called off hears of it once', async () => {
    await using place = makePlace();
    const cancel = new AbortController();
    const script = 'trap "echo told >>told" INT; echo begun; while [ ! -e go ]; do sleep 0.05; done; : >over';
    const called = await place.run(SHELL, `bash -c '${script}'`, {
      signal: cancel.signal,
      emit: () => cancel.abort(),
    });
    expect(called).toMatchObject({ ok: false, code: 'CANCELLED' });
    const told = join(place.home, 'told');
    await until(() => existsSync(told), 'it to be told');
    writeFileSync(join(place.home, 'go'), '');
    await until(() => existsSync(join(place.home, 'over')), 'it to end');
    expect(readFileSync(told, 'utf8')).toBe('told\n');
  });

  test('a command that takes too long goes on, and does not leak into the next answer', async () => {
    await using place = makePlace();
    await using shell = await startShell(place);
    const slow = await shell.submit('echo early; while [ ! -e go ]; do sleep 0.05; done; echo late');
    const { signal } = new AbortController();
    await until(() => shell.recent() === 'early\n', 'its first word');
    expect(await waitForEnd(shell, slow, { timeoutMs: 300, signal })).toEqual({ kind: 'timeout' });
    expect(await slow.takeOutput().text()).toBe('early');
    await expect(shell.submit('echo x')).rejects.toThrow('still busy');
    mkdirSync(join(place.home, 'go'));
    expect(await slow.ended).toEqual({ status: 0, shellEnded: false });
    const next = await shell.submit('echo next');
    await next.ended;
    expect(await next.output.text()).toBe('next');
    expect(shell.recent()).toBe('early\nlate\nnext\n');
  });

  test('//wait waits on, whatever listens to the terminal', async () => {
    await using place = makePlace();
    expect((await place.run(SHELL, '//wait')).content).toBe('Nothing is running.');
    expect(await place.run(SHELL, 'read -t 100 line; echo "got $line"')).toMatchObject({
      code: 'WAITING_FOR_INPUT',
    });
    expect(await place.run(SHELL, '//wait 0.2')).toMatchObject({ ok: false, code: 'TIMEOUT' });
    const waiting = place.run(SHELL, '//wait');
    await place.run(SHELL, '//send it');
    expect((await waiting).content).toMatch(/^exit: 0 /);
    for (const cmd of ['//wait x', '//wait 0', '//wait 121'])
      expect(await place.run(SHELL, cmd), cmd).toMatchObject({ code: 'INVALID_PAYLOAD' });
  });

  test('caps are what the specification says, or shorter', () => {
    expect([SUBMISSION_TIMEOUT_MS, SHELL_START_MS]).toEqual([120_000, 5000]);
    expect(MARK_WAIT_MS + PROMPT_WAIT_MS).toBeLessThan(INTERRUPT_WAIT_MS);
  });
});

/** A shell by itself, without the commands around it. */
function startShell(place: Place): Promise<BashShell> {
  return BashShell.start({
    home: place.home,
    cwd: place.home,
    env: { PATH: process.env['PATH'] ?? '' },
    folder: join(place.dataDir, 'shells'),
    spoolDir: join(place.dataDir, 'spool'),
  });
}
