// Commands of every topic: parsing, variables, one-shot commands, topics, events.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAX_LISTED_EVENTS, MAX_PREVIEW_CHARS } from '../../../src/string/hubs/inbox.js';
import { EXEC_TIMEOUT_MS } from '../../../src/string/commands/exec.js';
import { MAX_SHOWN_VALUE_CHARS } from '../../../src/string/commands/info.js';
import { parseCommandLine } from '../../../src/string/command-line.js';
import { MAX_ENV_BYTES } from '../../../src/string/packages/env-store.js';
import { bodyOf, fail, renderFeedback, renderPlain } from '../../../src/string/result.js';
import { MAX_VARIABLE_BYTES, MAX_VARIABLES } from '../../../src/string/session/session.js';
import { isAlive } from '../../helpers/proc.js';
import { makePlace } from './place.js';

describe('the text of a command', () => {
  test.each([
    ['/open x', { verb: 'open', args: 'x', body: undefined }],
    ['/OPEN  a  b ', { verb: 'open', args: 'a  b', body: undefined }],
    ['//info', { verb: 'info', args: '', body: undefined }],
    ['/act.Search --x 1', { verb: 'act', suffix: 'Search', args: '--x 1' }],
    ['/tool:git.status', { verb: 'tool', suffix: 'git.status', args: '' }],
    ['/write a.md\n one \n\ntwo\n\n', { verb: 'write', args: 'a.md', body: ' one \n\ntwo\n\n' }],
    ['  /x\r\nbody\r\n', { verb: 'x', args: '', body: 'body\r\n' }],
    ['/x\n', { verb: 'x', args: '', body: '' }],
    ['/', { verb: '', args: '' }],
  ])('%j', (text, expected) => {
    expect(parseCommandLine(text)).toMatchObject(expected);
  });

  test.each(['', 'hello', '# /open', ' x /open'])('%j is none', (text) => {
    expect(parseCommandLine(text)).toBeUndefined();
  });
});

describe('a result on its surfaces', () => {
  const failure = fail('NOT_FOUND', 'file not found', 'path: ~/notes/missing.md');

  test('a failure', () => {
    expect(bodyOf(failure)).toBe('file not found\npath: ~/notes/missing.md');
    expect(renderPlain({ ok: false, code: 'NOT_FOUND', content: bodyOf(failure) })).toBe(
      'ERROR(NOT_FOUND): file not found\npath: ~/notes/missing.md',
    );
    expect(renderPlain({ ok: false, code: null, content: 'x' })).toBe('ERROR(UNKNOWN): x');
    expect(renderFeedback(failure)).toBe('✗ NOT_FOUND: file not found\n  path: ~/notes/missing.md');
    const missing = { ...fail('NOT_FOUND', 'File not found: /home/a/m.md', 'help'), missing: '~/m.md' };
    expect(bodyOf(missing)).toBe('File not found: /home/a/m.md\nhelp');
    expect(renderFeedback(missing)).toBe('✗ NOT_FOUND: file not found\n  path: ~/m.md\n  help');
  });

  test('content, a confirmation, an edit', () => {
    expect(renderFeedback({ ok: true, content: '## Decisions' })).toBe('## Decisions');
    expect(renderFeedback({ ok: true, system: 'Closed: x', done: true })).toBe('✓ Closed: x');
    expect(
      renderFeedback({
        ok: true,
        change: { target: '~/m.md#d', summary: 'Added 2 lines', diff: ' 13 +│ 1.' },
      }),
    ).toBe('✓ ~/m.md#d — Added 2 lines\n\n 13 +│ 1.');
  });
});

describe('variables', () => {
  test('set, listed, of one topic', async () => {
    await using place = makePlace();
    expect((await place.run('a', '/set')).content).toBe('No variables set.');
    expect((await place.run('a', '/set {city} = "Seoul"')).content).toBe('{city} = "Seoul"');
    expect((await place.run('a', "/set n='two words'")).content).toBe('{n} = "two words"');
    expect((await place.run('a', '/set {m}\none\ntwo')).content).toBe('{m} = (2 lines)');
    expect((await place.run('a', '/set\n{x} = 1\n\n```{y}\nl1\nl2\nl3\n```\nz = 3')).content).toBe(
      '{x} = "1"\n{y} = (3 lines)\n{z} = "3"',
    );
    expect((await place.run('a', '/set')).content).toBe(
      'Variables\n---\n{city} = "Seoul"\n{n} = "two words"\n{m} = (2 lines)\n{x} = "1"\n{y} = (3 lines)\n{z} = "3"',
    );
    expect((await place.run('b', '/set')).content).toBe('No variables set.');
    expect((await place.run('a', '/info')).content).toContain('{city}="Seoul"');
  });

  test.each([
    '/set x',
    '/set {1x} = 2',
    '/set {a} == ',
    '/set = 3',
    '/set\n{a} = 1\nnonsense',
    '/set\n```{a}\nopen',
  ])('a bad one changes nothing: %j', async (cmd) => {
    await using place = makePlace();
    const outcome = await place.run('a', cmd);
    const isValue = cmd === '/set {a} == ';
    expect(outcome.ok).toBe(isValue);
    expect((await place.run('a', '/set')).content).toBe(
      isValue ? 'Variables\n---\n{a} = "="' : 'No variables set.',
    );
  });

  test('$NAME belongs to the app, is kept in its home, and is not shown', async () => {
    await using place = makePlace();
    expect(await place.run('main', '/set $KEY = "x"')).toMatchObject({
      code: 'INVALID_TARGET',
      content: expect.stringContaining('app-scoped'),
    });
    expect((await place.run('app:weather', '/set $KEY = "sk-123456789"')).content).toBe(
      '$KEY = "sk-123456789" (weather)',
    );
    expect((await place.run('app:weather:korea', '/set $CITY = "Seoul"')).content).toBe(
      '$CITY = "Seoul" (weather:korea)',
    );
    expect((await place.run('app:weather:korea', '/set')).content).toBe(
      'Variables\n---\n$KEY = "sk-…(12 chars)"\n$CITY = "…(5 chars)"',
    );
    expect((await place.run('app:weather', '/set --reveal')).content).toBe(
      'Variables\n---\n$KEY = "sk-123456789"',
    );
    expect(JSON.parse(readFileSync(join(place.home, 'apps/weather/korea/env.json'), 'utf8'))).toEqual({
      CITY: 'Seoul',
    });
    expect(await place.run('app:weather', `/set $BIG = ${'x'.repeat(MAX_ENV_BYTES)}`)).toMatchObject({
      code: 'INVALID_PAYLOAD',
    });
  });

  test('caps: MAX_VARIABLES, MAX_VARIABLE_BYTES, MAX_SHOWN_VALUE_CHARS', async () => {
    await using place = makePlace();
    const many = Array.from({ length: MAX_VARIABLES }, (_, i) => `v${i} = 1`).join('\n');
    expect(await place.run('a', `/set\n${many}`)).toMatchObject({ ok: true });
    expect(await place.run('a', '/set v0 = 2')).toMatchObject({ ok: true });
    expect(await place.run('a', '/set one_more = 1')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(await place.run('b', `/set {x} = ${'x'.repeat(MAX_VARIABLE_BYTES - 1)}`)).toMatchObject({
      ok: true,
    });
    expect(await place.run('b', '/set {y} = 1')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    const { content } = await place.run('b', '/info');
    expect(content).toContain(`{x}="${'x'.repeat(MAX_SHOWN_VALUE_CHARS - 3)}..."`);
  });
});

describe('/exec', () => {
  test('both outputs in order, the exit code, the folder', async () => {
    await using place = makePlace();
    expect(await place.run('main', '/exec echo one; echo two >&2; echo three')).toMatchObject({
      ok: true,
      content: `exit: 0 | cwd: ${place.home}\n---\none\ntwo\nthree`,
    });
    expect(await place.run('main', '/exec exit 3')).toMatchObject({
      ok: false,
      code: 'EXIT_3',
      content: `exit: 3 | cwd: ${place.home}\n---\n(no output)`,
    });
    expect(await place.run('main', '/exec kill -9 $$')).toMatchObject({ code: 'EXIT_137' });
    expect(await place.run('main', '/exec')).toMatchObject({ code: 'COMMAND_UNSUPPORTED' });
    expect((await place.run('main', '/exec cat <<X\nin a body\nX')).content).toContain('in a body');
    expect((await place.run('main', '/exec cat; echo end')).content).toContain('---\nend');
  });

  test('the environment: home, the topic’s variables, and nothing of the daemon’s', async () => {
    await using place = makePlace();
    process.env['STRING_TEST_TOKEN'] = 'secret';
    await place.run('main', '/set\n{city} = Seoul\n{_hidden} = x');
    const { content } = await place.run(
      'main',
      '/exec echo "$HOME|$city|$_hidden|$STRING_TEST_TOKEN|$GIT_PAGER|"',
    );
    delete process.env['STRING_TEST_TOKEN'];
    expect(content).toContain(`${place.home}|Seoul|||cat|`);
    expect(content).not.toContain('secret');
  });

  test('called off, it is gone with all it has started', async () => {
    await using place = makePlace();
    const cancel = new AbortController();
    const chunks: string[] = [];
    const outcome = await place.run('main', '/exec echo $$; sleep 60 & echo $!; wait', {
      signal: cancel.signal,
      emit: (chunk) => {
        chunks.push(chunk);
        if (chunks.join('').split('\n').length === 3) cancel.abort();
      },
    });
    expect(outcome).toMatchObject({ ok: false, code: 'CANCELLED' });
    const [shell, child] = chunks.join('').split('\n');
    expect(isAlive(Number(shell))).toBe(false);
    expect(isAlive(Number(child))).toBe(false);
  });

  test('called off while it is started, it is gone as well', async () => {
    await using place = makePlace();
    const cancel = new AbortController();
    const running = place.run('main', '/exec sleep 600', { signal: cancel.signal });
    await new Promise((resolve) => setImmediate(resolve));
    cancel.abort();
    expect(await running).toMatchObject({ ok: false, code: 'CANCELLED' });
  });

  test('called off before it began, or in a folder that is gone', async () => {
    await using place = makePlace();
    expect(await place.run('main', '/exec touch x', { signal: AbortSignal.abort() })).toMatchObject({
      code: 'CANCELLED',
    });
    expect((await place.run('main', '/exec ls')).content).toContain('(no output)');
    await place.run('main', '/exec mkdir gone');
    await place.run('main', '/open gone');
    await place.run('other', '/exec rmdir gone');
    expect(await place.run('main', '/exec pwd')).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('EXEC_TIMEOUT_MS is two minutes', () => {
    expect(EXEC_TIMEOUT_MS).toBe(120_000);
  });
});

describe('topics', () => {
  test('listed, filtered, closed', async () => {
    await using place = makePlace();
    writeFileSync(join(place.home, 'doc.md'), 'x');
    await place.run('main', '/open doc.md');
    await place.run('docs', '/info');
    place.runtime.open({ type: 'bash', name: 'bash:dev' });
    expect((await place.run('main', '/topics')).content).toBe(
      `Active topics:\n\n* main      tab   current: ${place.home}/doc.md\n  docs      tab   (no doc)\n  bash:dev  bash  (no shell)\n\n3 topics open.`,
    );
    expect((await place.run('docs', '/sessions tab')).content).toBe(
      `tab topics:\n\n  main  tab  current: ${place.home}/doc.md\n* docs  tab  (no doc)\n\n2 tab topics open.`,
    );
    expect((await place.run('main', '/session list')).content).toContain('3 topics open.');
    expect((await place.run('main', '/topics app')).content).toBe('No app topics open.');
    expect(await place.run('main', '/topics bad')).toMatchObject({
      code: 'INVALID_PAYLOAD',
      content: 'Unknown topic type: bad\nValid types: tab, app, bash, hub',
    });
    expect(await place.run('main', '/session close nope')).toMatchObject({
      code: 'NOT_FOUND',
      content: 'No such topic: nope',
    });
    expect((await place.run('main', '/session close docs')).content).toBe('Closed session: docs');
    expect((await place.run('main', '/session close bash:dev')).content).toBe('Closed session: bash:dev');
    expect(await place.run('main', '/session close')).toMatchObject({
      ok: false,
      content: 'Cannot close last session.',
    });
    expect(await place.run('main', '/session what')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  });
});

describe('events', () => {
  const event = (n: number, text = `text ${n}`) => ({
    id: `evt_${n}_x`,
    agentId: 'default',
    receivedAt: '2026-01-01T00:00:00.000Z',
    source: 'local-webhook',
    text,
    status: 'pending' as const,
  });

  test('listed, read, acknowledged, cleared', async () => {
    await using place = makePlace();
    expect((await place.run('main', '/events')).content).toContain('## Unacked events (0)');
    expect((await place.run('main', '/events')).content).toContain('  (no events)');
    place.services.inbox.push(event(1, '\n  first\t line \nsecond'), event(2, 'y'.repeat(100)), {
      ...event(3),
      agentId: 'other',
    });
    const { content } = await place.run('main', '/events list');
    expect(content).toMatch(/^# event inbox\n\n## Unacked events \(2\)\nOrder: newest-first/);
    expect(content.indexOf('evt_2_x')).toBeLessThan(content.indexOf('evt_1_x'));
    expect(content).toContain('  evt_1_x  pending  2026-01-01T00:00:00.000Z  first line\n');
    expect(content).toContain(`${'y'.repeat(MAX_PREVIEW_CHARS - 3)}...\n`);
    expect((await place.run('bash:x', '//events.read evt_1_x')).content).toBe(
      'Event evt_1_x\n---\nreceivedAt: 2026-01-01T00:00:00.000Z\nsource: local-webhook\nstatus: pending\n\n\n  first\t line \nsecond\n\nnext: string event ack evt_1_x\nMCP/slash: /events.ack evt_1_x',
    );
    for (const cmd of ['/events.ack evt_1_x', '/events ack evt_1_x'])
      expect((await place.run('main', cmd)).content).toBe('Acked evt_1_x');
    expect((await place.run('main', '/events')).content).toContain('## Unacked events (1)');
    expect((await place.run('main', '/events list --all')).content).toContain('## Recent events (2)');
    expect((await place.run('main', '/events --all')).content).toContain('evt_1_x  ack');
    expect((await place.run('main', '/events.clear')).content).toBe('Cleared 1 event');
    expect((await place.run('main', '/events.clear --all')).content).toBe('Cleared 1 event');
    expect(place.services.inbox).toHaveLength(1);
  });

  test('what is missing or unknown', async () => {
    await using place = makePlace();
    expect(await place.run('main', '/events.read')).toMatchObject({
      code: 'INVALID_PAYLOAD',
      content: 'Usage: /events.read <id>',
    });
    expect(await place.run('main', '/events.ack')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    for (const cmd of ['/events.read evt_3_x', '/events ack evt_3_x'])
      expect(await place.run('main', cmd)).toMatchObject({
        code: 'NOT_FOUND',
        content: 'Event not found: evt_3_x',
      });
    expect(await place.run('main', '/events.nope')).toMatchObject({ code: 'COMMAND_UNSUPPORTED' });
    expect(await place.run('main', '/events.read "open')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  });

  test('MAX_LISTED_EVENTS rows, and how many there are beside', async () => {
    await using place = makePlace();
    for (let i = 0; i < MAX_LISTED_EVENTS + 2; i++) place.services.inbox.push(event(i));
    const { content } = await place.run('main', '/events');
    expect(content.match(/evt_/g)).toHaveLength(MAX_LISTED_EVENTS);
    expect(content).toContain('  … and 2 older');
  });
});
