// The parts of the prompt: lines that become commands, lines typed ahead, lines that are remembered.

import { EventEmitter } from 'node:events';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_INPUT_BYTES, readBody } from '../../../../src/cli/string/read-body.js';
import {
  History,
  MAX_HISTORY_BYTES,
  MAX_HISTORY_LINE_CHARS,
  MAX_HISTORY_LINES,
} from '../../../../src/cli/string/repl-history.js';
import { CommandLines, MAX_COMMAND_CHARS } from '../../../../src/cli/string/repl-input.js';
import { MAX_TYPED_AHEAD, TypedLines } from '../../../../src/cli/string/typed-lines.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

describe('commands of several lines', () => {
  const feed = (lines: readonly string[], isShell = false): (string | undefined)[] => {
    const input = new CommandLines();
    const made = lines.map((line) => {
      const pushed = input.push(line, isShell);
      return pushed.kind === 'command' ? pushed.text : undefined;
    });
    return [...made.filter((text) => text !== undefined), input.end()];
  };

  test('most are one line', () => {
    expect(feed(['/info', '/open x'])).toEqual(['/info', '/open x', undefined]);
  });

  test('a body follows <<WORD up to the line WORD, blank lines and slashes included', () => {
    expect(feed(['/write a.md <<END', '# A', '', '/not a command', 'END', '/info'])).toEqual([
      '/write a.md\n# A\n\n/not a command',
      '/info',
      undefined,
    ]);
    expect(feed(["/write a.md << 'E_1'", 'x \\', 'E_1'])).toEqual(['/write a.md\nx \\', undefined]);
  });

  test('a backslash at the end takes the next line as well', () => {
    expect(feed(['/set \\', '{a} = 1\\', '{b} = 2'])).toEqual(['/set \n{a} = 1\n{b} = 2', undefined]);
    expect(feed(['/set {a} = \\\\'])).toEqual(['/set {a} = \\\\', undefined]);
  });

  test('for a shell all of it is its own syntax', () => {
    expect(feed(['cat <<EOF', 'a', 'EOF', 'echo \\', 'b'], true)).toEqual([
      'cat <<EOF\na\nEOF',
      'echo \\\nb',
      undefined,
    ]);
  });

  test.each([
    'cat <<<hello',
    'cat <<< hello',
    'x=1<<y',
    '# note <<later',
    'ls # note <<later',
    'echo "see <<later',
    "echo 'a' \"it's <<later",
  ])('%s is a whole command of a shell', (line) => {
    expect(feed([line, 'next'], true)).toEqual([line, 'next', undefined]);
  });

  test.each([
    'cat<<EOF',
    'cat 3<<EOF',
    'cat <<-EOF',
    'X=1 cat <<"EOF"',
    "echo '#' \\\" a#b <<'EOF'",
    'true;<<EOF',
    'cat <<A <<EOF',
  ])('%s has a body', (line) => {
    expect(feed([line, 'x', 'EOF', 'next'], true)).toEqual([`${line}\nx\nEOF`, 'next', undefined]);
  });

  test('a number that is shifted is none', () => {
    expect(feed(['/set {a} = 1<<b', '/set {a} = <<<b', '/info'])).toEqual([
      '/set {a} = 1<<b',
      '/set {a} = <<<b',
      '/info',
      undefined,
    ]);
  });

  const blanks = fc.stringMatching(/^[ \t]{0,5}$/);
  const word = fc.stringMatching(/^[A-Za-z_][\w-]{0,8}$/);

  test('whatever stands before <<WORD, the body ends by WORD; <<<WORD has none', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[^<\n]{0,20}$/),
        fc.constantFrom('<<', '<<-', '<<<'),
        blanks,
        fc.constantFrom('', "'", '"'),
        word,
        blanks,
        fc.array(fc.stringMatching(/^[^\n]{0,10}$/)),
        (text, sign, gap, quote, end, rest, lines) => {
          const before = `/write ${text}`;
          const line = `${before} ${sign}${gap}${quote}${end}${quote}${rest}`;
          const body = lines.filter((one) => one.trim() !== end);
          const [given, made] =
            sign === '<<<' ? [[line], line] : [[line, ...body, end], [before.trimEnd(), ...body].join('\n')];
          expect(feed(given)).toEqual([made, undefined]);
        },
      ),
    );
  });

  test('a line goes on by <<WORD or by an odd number of backslashes, and by nothing else', () => {
    const part = fc.constantFrom('<', '<<', '-', ' ', '\\', '#', '=', '"', "'", 'a', '/', '1', '\t');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, isShell) => {
        const line = parts.join('');
        const isOpen = new CommandLines().push(line, isShell).kind === 'more';
        const isContinued = /(?:^|[^\\])(?:\\\\)*\\$/u.test(line);
        const mayHaveBody = /(?:^|[^<])<<-?\s*(['"]?)a[a1-]*\1\s*$/u.test(line);
        expect([isContinued, isContinued || mayHaveBody]).toContain(isOpen);
      }),
    );
  });

  test('a long line takes no longer than it is long', () => {
    const many = 1_000_000; // hours, if each of them were looked at from every other
    for (const line of [' ', '\\\\', '<', '<< ', '<<a', '"', 'a'].map((part) => part.repeat(many)))
      for (const isShell of [true, false])
        expect(new CommandLines().push(`${line} <<1`, isShell).kind).toBe('command');
    expect(new CommandLines().push(`${'\\\\'.repeat(many)}x`, true).kind).toBe('command');
    expect(new CommandLines().push(`${' '.repeat(many)}x`, true).kind).toBe('command');
  });

  test('what is not complete at the end is given as it is', () => {
    expect(feed(['/write a <<END', 'x'])).toEqual(['/write a\nx']);
    const input = new CommandLines();
    input.push('/write a <<END', false);
    expect(input.awaited).toBe('END');
    input.push('END', false);
    expect(input.awaited).toBeUndefined();
  });

  test('one that is too large is refused and forgotten', () => {
    const input = new CommandLines();
    const half = 'x'.repeat(MAX_COMMAND_CHARS / 2);
    expect(input.push('/write a <<END', false).kind).toBe('more');
    expect(input.push(half, false).kind).toBe('more');
    expect(input.push(half, false).kind).toBe('too-large');
    expect(input.push('/info', false)).toEqual({ kind: 'command', text: '/info' });
  });
});

test('lines typed ahead wait, and so many of them', async () => {
  const editor = Object.assign(new EventEmitter(), { close: () => void editor.emit('close') });
  const typed = new TypedLines(editor as never);
  const first = typed.next();
  for (let at = 0; at <= MAX_TYPED_AHEAD; at++) editor.emit('line', String(at));
  typed.close();
  const got = [await first];
  for (let line = await typed.next(); line !== undefined; line = await typed.next()) got.push(line);
  expect(got).toEqual(Array.from({ length: MAX_TYPED_AHEAD }, (_, at) => String(at)));
});

test('a body from standard input is kept to the byte, and has a largest size', async () => {
  const { signal } = new AbortController();
  const from = async function* (...parts: Buffer[]) {
    yield* parts;
  };
  expect(await readBody('/write a', signal, from(Buffer.from(' a\n\n'), Buffer.from('é\n')))).toBe(
    '/write a\n a\n\né\n',
  );
  expect(await readBody(undefined, signal, from(Buffer.from('/info\n')))).toBe('/info\n');
  const all = Buffer.alloc(MAX_INPUT_BYTES, 0x61);
  expect(await readBody(undefined, signal, from(all))).toHaveLength(MAX_INPUT_BYTES);
  await expect(readBody(undefined, signal, from(all, Buffer.from('a')))).rejects.toThrow('more than');
  await expect(readBody(undefined, signal, from(Buffer.from([0xff])))).rejects.toThrow('not valid UTF-8');
});

describe('history', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-history-'));
    file = join(folder, 'string/history');
  });
  afterEach(() => removeFolder(folder));

  test('is there the next time, for its owner alone', async () => {
    const history = await History.open(file);
    expect([history.add('/info'), history.add('/info'), history.add('ls')]).toEqual([true, false, true]);
    expect((await History.open(file)).lines).toEqual(['/info', 'ls']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('a file that others could read is closed to them', async () => {
    expect((await History.open(file)).add('x')).toBe(true);
    writeFileSync(join(folder, 'open'), 'a\n', { mode: 0o644 });
    expect((await History.open(join(folder, 'open'))).lines).toEqual(['a']);
    expect(statSync(join(folder, 'open')).mode & 0o777).toBe(0o600);
  });

  test('secrets, what begins with a blank and what is no line to type again are not kept', async () => {
    const history = await History.open(file);
    const long = 'x'.repeat(MAX_HISTORY_LINE_CHARS);
    for (const line of [
      ' hidden',
      '/set $KEY = "s3cret"',
      '//set $K=1',
      '//send s3cret',
      '//SEND x',
      `${long}x`,
      '',
    ])
      expect(history.add(line)).toBe(false);
    expect([history.add('/set {a} = 1'), history.add(long)]).toEqual([true, true]);
  });

  test('it is cut when it has grown, and one that is not ours is not read', async () => {
    const history = await History.open(file);
    history.add('first');
    const many = Array.from({ length: 2 * MAX_HISTORY_LINES }, (_, at) => `line ${at}\n`);
    writeFileSync(file, `first\n${many.join('')}`);
    const cut = await History.open(file);
    expect([cut.lines.length, cut.lines.at(-1)]).toEqual([
      MAX_HISTORY_LINES,
      `line ${2 * MAX_HISTORY_LINES - 1}`,
    ]);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(MAX_HISTORY_LINES + 1);
    writeFileSync(file, Buffer.alloc(MAX_HISTORY_BYTES + 1, 0x0a));
    expect((await History.open(file)).lines).toEqual([]);
  });
});
