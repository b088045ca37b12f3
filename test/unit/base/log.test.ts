import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  LOG_LEVELS,
  type Log,
  type LogOptions,
  MAX_EARLY_RECORDS,
  MAX_UNWRITTEN_BYTES,
  openLog,
} from '../../../src/base/log.js';
import { removeFolder } from '../../helpers/remove-folder.js';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'log-'));
  file = join(dir, 'service.log');
});
afterEach(() => removeFolder(dir));

const text = (): string => readFileSync(file, 'utf8');
const lines = (): string[] => text().trimEnd().split('\n');
const records = (): Record<string, unknown>[] =>
  lines().map((line) => JSON.parse(line) as Record<string, unknown>);
const toFile = (options: Partial<LogOptions> = {}): Log => openLog({ name: 'svc', file, ...options });

describe('as JSON', () => {
  test('a record has level, time, name, message and facts, one a line', async () => {
    const log = toFile();
    const from = Date.now();
    log.info('started', { port: 0, ok: false, none: null });
    log.error('two\nlines', { path: '/a\nb' });
    await log.flush();
    const [first, second] = records();
    expect(first).toMatchObject({ level: 30, name: 'svc', msg: 'started', port: 0, ok: false, none: null });
    expect(second).toMatchObject({ level: 50, msg: 'two\nlines', path: '/a\nb' });
    for (const record of records()) {
      expect(record['time']).toBeGreaterThanOrEqual(from);
      expect(record['time']).toBeLessThanOrEqual(Date.now());
    }
  });

  test('an error among the facts keeps its words, its code and its cause, under any key', async () => {
    const log = toFile();
    const error = Object.assign(new TypeError('no such thing', { cause: new Error('deeper') }), {
      code: 'ENOENT',
    });
    log.error('failed', { err: error, reason: error });
    await log.flush();
    const [record] = records();
    for (const key of ['err', 'reason']) {
      expect(record?.[key]).toMatchObject({
        type: 'TypeError',
        message: 'no such thing',
        code: 'ENOENT',
        cause: 'deeper',
      });
      expect(record?.[key]).toHaveProperty('stack');
    }
  });

  test('facts that JSON does not know, or that go in circles, do not throw', async () => {
    const log = toFile();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    log.info('odd', { big: 10n, circle, f: () => {}, s: Symbol('s'), date: new Date(Number.NaN) });
    await log.flush();
    log.info('odd again', { big: 10n, circle });
    expect(records().map((record) => record['msg'])).toEqual(['odd', 'odd again']);
  });

  test('a fact named like a field of the record does not take its place', async () => {
    const log = toFile();
    const facts = { level: 'high', time: 'noon', name: 'x', msg: 'm', pid: -1, hostname: 'h' };
    log.info('real', facts);
    await log.flush();
    log.warn('real too', facts);
    expect(records()).toEqual([
      expect.objectContaining({
        level: 30,
        name: 'svc',
        msg: 'real',
        name_: 'x',
        time_: 'noon',
        level_: 'high',
      }),
      expect.objectContaining({
        level: 40,
        name: 'svc',
        msg: 'real too',
        msg_: 'm',
        pid_: -1,
        hostname_: 'h',
      }),
    ]);
    for (const line of lines()) expect(line.match(/"(level|time|name|msg)":/g)).toHaveLength(4);
  });

  test('a percent sign in a message is only a percent sign', async () => {
    const log = toFile();
    log.info('100%s %d %o done', { a: 1 });
    await log.flush();
    expect(records()[0]).toHaveProperty('msg', '100%s %d %o done');
  });
});

describe('levels', () => {
  const all = (log: Log): void => {
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) log[level](level);
  };

  test.each(LOG_LEVELS.slice(0, -1).map((level, i) => [level, 5 - i] as const))(
    'at %s the log has %d of five records',
    async (level, count) => {
      const log = toFile({ level });
      all(log);
      await log.flush();
      all(log);
      expect(records().map((record) => record['msg'])).toEqual(
        Array.from({ length: 2 }, () => LOG_LEVELS.slice(5 - count, 5)).flat(),
      );
    },
  );

  test('silent writes nothing and does not even open the file', async () => {
    const log = toFile({ level: 'silent' });
    all(log);
    await log.flush();
    expect(() => statSync(file)).toThrow('ENOENT');
  });

  test('without a level it is info', async () => {
    const log = toFile();
    all(log);
    await log.flush();
    expect(records()).toHaveLength(3);
  });
});

describe('as text', () => {
  test('a record reads as time, level, name, message and facts', async () => {
    const log = toFile({ format: 'text' });
    log.warn('disk is nearly full', { path: '/var/log', free: 12, note: 'two words', deep: { a: [1] } });
    await log.flush();
    expect(text()).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z WARN svc: disk is nearly full path=\/var\/log free=12 note="two words" deep=\{"a":\[1\]\}\n$/,
    );
  });

  test('nothing said can pass for a record of its own or command the terminal', async () => {
    const log = toFile({ format: 'text' });
    const forged = 'x\r\n2026-01-01T00:00:00.000Z ERROR svc: forged';
    log.info(forged, { [forged]: 1, value: forged });
    log.info('\u001b[2Jcleared\u009b31m \u2028 \u2029 \u0085 \u0000 \u202e', {
      a: '\u001b]0;title\u0007',
      b: '\u009b',
    });
    await log.flush();
    expect(lines()).toHaveLength(2);
    // oxlint-disable-next-line no-control-regex -- that there is none is what is tested
    expect(text().replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
  });

  test('a fact named time does not break the line', async () => {
    const log = toFile({ format: 'text' });
    log.info('a', { time: 'noon' });
    await log.flush();
    log.info('b', { time: Number.NaN, level: 99, name: 'other' });
    expect(lines()[0]).toContain('INFO svc: a time_=noon');
    expect(lines()[1]).toContain('INFO svc: b');
  });

  test('whatever is said is exactly one line that begins with the time', async () => {
    const log = toFile({ format: 'text' });
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }),
        fc.dictionary(fc.string({ unit: 'binary', minLength: 1 }), fc.anything()),
        async (message, facts) => {
          writeFileSync(file, '');
          log.info(message, facts);
          await log.flush();
          expect(text()).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z INFO svc: [^\n]*\n$/);
        },
      ),
    );
  });
});

describe('early records', () => {
  test('come first, in order, each with the time it was made', async () => {
    const log = toFile();
    const made: [from: number, to: number][] = [];
    for (let i = 0; i < 5; i++) {
      const end = Date.now() + 3;
      while (Date.now() < end); // keeps the event loop, and with it the loading of the logger, from moving on
      const from = Date.now();
      log.info(`early ${i}`);
      made.push([from, Date.now()]);
    }
    await log.flush();
    log.info('late');
    const found = records();
    expect(found.map((record) => record['msg'])).toEqual(
      [0, 1, 2, 3, 4].map((i) => `early ${i}`).concat('late'),
    );
    made.forEach(([from, to], i) => {
      expect(found[i]?.['time']).toBeGreaterThanOrEqual(from);
      expect(found[i]?.['time']).toBeLessThanOrEqual(to);
    });
  });

  test('past the cap they are counted, and the log says how many are missing', async () => {
    const log = toFile();
    for (let i = 0; i < MAX_EARLY_RECORDS + 7; i++) log.info('early', { i });
    await log.flush();
    const found = records();
    expect(found).toHaveLength(MAX_EARLY_RECORDS + 1);
    expect(found.at(-1)).toMatchObject({ level: 40, records: 7 });
  });

  test('a flush with nothing said waits for nothing and opens nothing', async () => {
    await toFile().flush();
    expect(() => statSync(file)).toThrow('ENOENT');
  });
});

describe('children', () => {
  test('carry their facts, add to those of their parent, and share its file', async () => {
    const log = toFile();
    const session = log.child({ session: 's_1' });
    session.child({ process: 'p_1' }).info('deep', { session: 's_2' });
    session.info('middle');
    log.info('top');
    await session.flush();
    expect(records()).toEqual([
      expect.objectContaining({ msg: 'deep', session: 's_2', process: 'p_1' }),
      expect.objectContaining({ msg: 'middle', session: 's_1' }),
      expect.not.objectContaining({ session: expect.anything() }),
    ]);
  });
});

describe('the file', () => {
  test('is created for its owner only, with the folders above it', async () => {
    file = join(dir, 'a', 'b', 'service.log');
    const umask = process.umask(0);
    try {
      const log = toFile();
      log.info('x');
      await log.flush();
    } finally {
      process.umask(umask);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is appended to', async () => {
    writeFileSync(file, 'before\n');
    const log = toFile();
    log.info('after');
    await log.flush();
    expect(lines()[0]).toBe('before');
    expect(lines()).toHaveLength(2);
  });

  test('that cannot be opened is not the end of the service: records go to stderr, which says why', async () => {
    mkdirSync(file);
    const child = await runChild('plain', { file });
    expect(child.code).toBe(0);
    const said = child.stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(said.map((record) => record['msg'])).toEqual([
      'log file not usable',
      'hello',
      'after loading',
      'from a child',
    ]);
    expect(said[0]).toMatchObject({ level: 50, file, err: { code: 'EISDIR' } });
  });
});

describe('a process of its own', () => {
  test('says all on stderr and nothing on stdout', async () => {
    const child = await runChild('plain', {});
    expect(child).toMatchObject({ code: 0, stdout: '' });
    expect(
      child.stderr
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { n: number }).n),
    ).toEqual([1, 2, 3]);
  });

  test('that exits right after a record has written it', async () => {
    const child = await runChild('exitAtOnce', { format: 'text' });
    expect(child.code).toBe(3);
    expect(child.stderr).toMatch(/ERROR child: last words\n$/);
  });

  test('goes on when whoever read its stderr has gone', async () => {
    const child = await runChild('unread', {}, { hangUp: true });
    expect(child).toMatchObject({ code: 0, stdout: 'alive\n' });
  });

  test('goes on when its stderr is closed', async () => {
    const child = await runChild('stderrClosed', {});
    expect(child).toMatchObject({ code: 0, stdout: 'alive\n' });
  });

  test('goes on with a full disk, and does not hoard what it cannot write', async () => {
    const child = await runChild('diskFull', { file: '/dev/full' });
    expect(child.code).toBe(0);
    expect((JSON.parse(child.stdout) as { grown: number }).grown).toBeLessThan(8 * MAX_UNWRITTEN_BYTES); // of 20 MB said
  });
});

interface Child {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function runChild(
  scenario: string,
  options: Partial<LogOptions>,
  how: { hangUp?: boolean } = {},
): Promise<Child> {
  const fixture = fileURLToPath(new URL('../../fixtures/log-child.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--import', 'tsx', fixture, scenario, JSON.stringify(options)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  if (how.hangUp === true) child.stderr.destroy();
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}
