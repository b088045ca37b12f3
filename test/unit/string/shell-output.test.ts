// What a shell has printed, and what is said about it.

import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RECENT_BYTES } from '../../../src/string/shell/bash-shell.js';
import { MAX_SHELLS } from '../../../src/string/shell/shells.js';
import { until } from '../../helpers/wait.js';
import { makePlace, type Place } from './place.js';

const SHELL = 'bash:dev';

async function body(place: Place, cmd: string): Promise<string> {
  const { content } = await place.run(SHELL, cmd);
  return content.slice(content.indexOf('\n---\n') + 5);
}

describe('output', () => {
  test('redraws are one line, colours are gone, what comes is told while it comes', async () => {
    await using place = makePlace();
    const chunks: string[] = [];
    const { content } = await place.run(
      SHELL,
      'for i in 1 2 3; do printf "\\r\\033[32m$i%%\\033[0m"; done; echo; echo done',
      { emit: (chunk) => chunks.push(chunk) },
    );
    expect(content).toMatch(/---\n3%\ndone$/);
    expect(chunks.join('')).toBe('3%\ndone\n');
  });

  test('long output is head and tail with counts; all of it is in a file until the next', async () => {
    await using place = makePlace();
    const { content } = await place.run(SHELL, 'seq 1 300000');
    const [, bytes, lines, all, file = ''] =
      /\[… (\d+) bytes \((\d+) lines\) left out here; all (\d+) bytes are in (\S+) …\]/.exec(content) ?? [];
    const whole = readFileSync(file, 'utf8');
    expect(whole).toBe(Array.from({ length: 300_000 }, (_, i) => `${i + 1}\n`).join(''));
    expect(Number(all)).toBe(whole.length);
    const kept = content.slice(content.indexOf('---\n') + 4).split(/\[….*…\]\n/);
    expect(kept.join('').length + 1 + Number(bytes)).toBe(whole.length);
    expect(`${kept.join('')}\n`.split('\n').length - 1 + Number(lines)).toBe(300_000);
    expect((await place.run(SHELL, '//tail 2')).content).toBe('Last 2 lines\n---\n299999\n300000');
    expect((await place.run(SHELL, '//tail 1000000')).content.length).toBeLessThan(RECENT_BYTES + 100);
    await place.run(SHELL, '//close');
    expect(existsSync(file)).toBe(false);
  });

  test('what comes between commands is for //tail', async () => {
    await using place = makePlace();
    await place.run(SHELL, '(while [ ! -e go ]; do sleep 0.02; done; echo from behind) & disown');
    mkdirSync(join(place.home, 'go'));
    await until(
      () => place.run(SHELL, '//tail').then(({ content }) => content.includes('from behind')),
      'its output',
    );
    expect(await body(place, 'echo front')).toBe('front');
  });
});

describe('what is said about a shell', () => {
  test('//info, //set, //topics, //help, and what is unknown', async () => {
    await using place = makePlace();
    expect((await place.run(SHELL, '//info')).content).toBe(
      `Bash session info\n---\ncwd: ${place.home}\npid: none (the next command starts a shell)\nmode: pty`,
    );
    expect((await place.run(SHELL, '//set {who} = "me"')).content).toBe('{who} = "me"');
    expect(await body(place, 'echo $who')).toBe('me');
    expect((await place.run(SHELL, '//info')).content).toMatch(
      /^Bash session info\n---\ncwd: .*\npid: running \(\d+\)\nstate: idle\nlast exit: 0\nmode: pty\nvars: \{who\}="me"$/,
    );
    expect((await place.run(SHELL, '//topics')).content).toContain(`* bash:dev  bash  cwd: ${place.home}`);
    expect((await place.run(SHELL, '//help')).content).toMatch(/^Bash Session\n---\n/);
    expect(await place.run(SHELL, '//open x')).toMatchObject({
      code: 'COMMAND_UNSUPPORTED',
      content: expect.stringContaining('Unknown bash meta-command: //open'),
    });
    expect(await place.run(SHELL, '//tail x')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(await place.run(SHELL, 'a\0b')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(readdirSync(join(place.dataDir, 'shells/default'))).toHaveLength(1);
  });

  test('/open bash:x from elsewhere is run there, and says so', async () => {
    await using place = makePlace();
    expect(await place.run('main', '/open bash:dev')).toMatchObject({
      ok: true,
      topic: { name: 'bash:dev' },
      content: expect.stringMatching(/^Opened bash:dev\n---\ncwd: .*\npid: running/s),
    });
    // A daemon that queues by the target hands it on as the topic.
    expect(await place.run('bash:dev', '/open bash:dev')).toMatchObject({ ok: true });
    expect(await place.run('bash:dev', '/open bash:other')).toMatchObject({ code: 'EXIT_127' });
    expect((await place.run('bash', '/open')).content).toMatch(
      /## Sessions \(1\)\n {2}bash:dev {2}alive · cwd: /,
    );
  });

  test('so many shells and no more', async () => {
    await using place = makePlace({ maxShells: 2 });
    for (const name of ['bash:a', 'bash:b'])
      expect(await place.run(name, 'true')).toMatchObject({ ok: true });
    expect(await place.run('bash:c', 'true')).toMatchObject({ ok: false, code: 'POLICY_DENIED' });
    await place.run('bash:a', '//close');
    expect(await place.run('bash:c', 'true')).toMatchObject({ ok: true });
    expect(MAX_SHELLS).toBe(64);
  });
});
