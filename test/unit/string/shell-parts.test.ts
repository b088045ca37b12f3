// The parts of a shell without one: what a screen would show, what is kept of an output, where it ends, what is typed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONTROL_FD, MAX_TYPED_BYTES, runLine } from '../../../src/string/shell/bash-lines.js';
import { CapturedOutput, HEAD_BYTES, TAIL_BYTES } from '../../../src/string/shell/captured-output.js';
import { ControlPipe, MAX_MESSAGE_BYTES, parseMessage } from '../../../src/string/shell/control-pipe.js';
import { MarkFinder } from '../../../src/string/shell/mark-finder.js';
import { MAX_ESCAPE_CHARS, MAX_LIVE_LINE_CHARS, ScreenText } from '../../../src/string/shell/screen-text.js';
import { newReport } from '../../../src/string/shell/submission.js';
import { until } from '../../helpers/wait.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const shown = (text: string): string => {
  const screen = new ScreenText();
  return screen.push(text) + screen.end();
};

describe('what a screen would show', () => {
  test.each([
    ['plain\nlines\n', 'plain\nlines\n'],
    ['a\r\nb\r\r\nc', 'a\nb\nc'],
    ['10%\r50%\r100%\ndone\n', '100%\ndone\n'],
    ['long line\rshort', 'shortline'],
    ['long line\r\u001b[Kshort', 'short'],
    ['abc\u001b[2K\rx', 'x  '],
    ['abc\bX', 'abX'],
    ['\u001b[31mred\u001b[0m \u001b]0;title\u0007x\u001b(By', 'red xy'],
    ['\u001b[?2004hprompt', 'prompt'],
    ['ab\u001b[1GX', 'Xb'],
  ])('%j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test('it does not matter how the stream is cut', () => {
    const piece = fc.constantFrom(
      'a',
      'bc',
      '\r',
      '\n',
      '\r\n',
      '\b',
      '\u001b[K',
      '\u001b[31m',
      '\u001b]0;t\u0007',
      '\u001bPq\u001b\\',
      '\u001bP',
      '\u001b',
      '[',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const whole = pieces.join('');
        const screen = new ScreenText();
        const parts = Array.from(whole, (char) => screen.push(char)).join('');
        expect(parts + screen.end()).toBe(shown(whole));
      }),
      { numRuns: 3000 },
    );
  });

  test('a line without end is handed on after MAX_LIVE_LINE_CHARS', () => {
    const screen = new ScreenText();
    expect(screen.push('x'.repeat(MAX_LIVE_LINE_CHARS))).toBe('');
    expect(screen.push('yz')).toHaveLength(MAX_LIVE_LINE_CHARS + 2);
    expect(screen.pending).toBe('');
  });

  test('what is no command to the terminal after all swallows nothing', () => {
    expect(shown('\u001b[\u001b\\\nnext\n')).toBe('[\nnext\n');
    expect(shown('\u001b]0;title\nnext\n')).toBe(']0;title\nnext\n');
    const screen = new ScreenText();
    expect(screen.push(`\u001b]0;${'x'.repeat(MAX_ESCAPE_CHARS - 10)}`)).toBe('');
    expect(screen.push(`${'x'.repeat(10)}text\n`)).toMatch(/^\]0;x+text\n$/);
  });
});

describe('what is kept of an output', () => {
  const withFolder = async (body: (spoolDir: string) => Promise<void>): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'string-spool-'));
    try {
      await body(folder);
    } finally {
      removeFolder(folder);
    }
  };

  test('all of it, up to HEAD_BYTES and TAIL_BYTES', async () => {
    await withFolder(async (spoolDir) => {
      const output = new CapturedOutput({ spoolDir });
      const line = `${'x'.repeat(1023)}\n`;
      const text = line.repeat((HEAD_BYTES + TAIL_BYTES) / 1024);
      output.push(Buffer.from(text));
      expect(await output.text()).toBe(text.trimEnd());
      expect(output.spool).toBeUndefined();
      output.push(Buffer.from('one more\n'));
      expect(await output.text()).toMatch(
        /\n\[… 1024 bytes \(1 lines\) left out here; all \d+ bytes are in \S+ …\]\nx/,
      );
      await output.spool?.close();
    });
  });

  test('one line that is longer than all that is shown', async () => {
    await withFolder(async (spoolDir) => {
      const output = new CapturedOutput({ spoolDir, headBytes: 10, tailBytes: 11 });
      output.push(Buffer.from(`${'é'.repeat(5000)}\n`));
      output.end();
      const text = await output.text();
      await output.spool?.close();
      expect(text).toMatch(
        /^é{5}\n\[… 9980 bytes \(0 lines\) left out here; all 10001 bytes are in \S+ …\]\né{5}$/,
      );
    });
  });

  test('head, tail, and exact counts of the rest, whatever was printed; all of it in the spool', async () => {
    await withFolder(async (spoolDir) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.stringMatching(/^[aé€]{0,30}$/), { minLength: 1, maxLength: 60 }),
          fc.integer({ min: 1, max: 64 }),
          async (lines, chunk) => {
            const output = new CapturedOutput({ spoolDir, headBytes: 100, tailBytes: 200 });
            const whole = Buffer.from(lines.map((line) => `${line}.\n`).join(''));
            for (let at = 0; at < whole.length; at += chunk) output.push(whole.subarray(at, at + chunk));
            output.end();
            const text = await output.text();
            const cut =
              /^\[… (\d+) bytes \((\d+) lines\) left out here; all (\d+) bytes are in (\S+) …\]\n/m.exec(
                text,
              );
            const spool = cut === null ? whole.toString() : readFileSync(cut[4] ?? '', 'utf8');
            await output.spool?.close();
            const [head = '', tail = ''] = cut === null ? [text] : text.split(cut[0]);
            expect(spool).toBe(whole.toString());
            expect(whole.toString().startsWith(head)).toBe(true);
            expect(whole.toString().trimEnd().endsWith(tail)).toBe(true);
            // A last line that is cut off at its blank end is the only thing not counted.
            const extra = cut !== null && tail === '' ? 1 : 0;
            expect(Number(cut?.[1] ?? 0) + Buffer.byteLength(head) + Buffer.byteLength(tail) + 1).toBe(
              whole.length + extra,
            );
            expect(Number(cut?.[2] ?? 0) + `${head}${tail}\n`.split('\n').length - 1).toBe(
              lines.length + extra,
            );
          },
        ),
        { numRuns: 200 },
      );
    });
  });
});

describe('where an output ends', () => {
  test('at the mark, wherever the stream is cut, and at nothing that looks like it', () => {
    const mark = '0123456789abcdef0123456789abcdef';
    const noise = fc
      .array(fc.constantFrom('a', '\u001e', '\u001e0123', `\u001e${mark}`, mark, '\n'), { maxLength: 8 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(noise, noise, fc.integer({ min: 1, max: 40 }), (before, after, chunk) => {
        fc.pre(!`${before}x`.includes(`\u001e${mark}\u001e`) && !before.endsWith(`\u001e${mark}`));
        const stream = Buffer.from(`${before}\u001e${mark}\u001e${after}`);
        const finder = new MarkFinder(mark);
        let seen = '';
        let rest: string | undefined;
        for (let at = 0; at < stream.length; at += chunk) {
          const piece = stream.subarray(at, at + chunk);
          if (rest === undefined) {
            const found = finder.push(piece);
            seen += found.before.toString();
            rest = found.after?.toString();
          } else rest += piece.toString();
        }
        expect([seen, rest]).toEqual([before, after]);
      }),
      { numRuns: 2000 },
    );
  });

  test('what was held back is given when no mark comes', () => {
    const finder = new MarkFinder('ab');
    expect(finder.push(Buffer.from('x\u001ea')).before.toString()).toBe('x');
    expect(finder.end().toString()).toBe('\u001ea');
  });
});

describe('what a shell tells', () => {
  test('messages, and nothing for what is none', () => {
    const { nonce } = newReport(1);
    expect(parseMessage(`c ${nonce} 130 /a b/\nc`)).toEqual({
      kind: 'completed',
      nonce,
      status: 130,
      cwd: '/a b/\nc',
    });
    expect(parseMessage(`c ${nonce} 0 `)).toMatchObject({ cwd: '' });
    expect(parseMessage('p 17')).toEqual({ kind: 'prompt', line: 17 });
    for (const text of [
      '',
      'p',
      'p x',
      'c',
      `c ${nonce}`,
      `c ${nonce} x /`,
      `c ${nonce.slice(1)} 0 /`,
      'x 1',
    ])
      expect(parseMessage(text), text).toBeUndefined();
  });

  test('a message of more than MAX_MESSAGE_BYTES is forgotten, the next one is heard', async () => {
    const heard: number[] = [];
    const pipe = await ControlPipe.open((message) => {
      if (message.kind === 'prompt') heard.push(message.line);
    });
    try {
      // Read as one piece, since it was all there; the next is another one, since this was heard before it came.
      writeSync(pipe.writeFd, `p 0\0${'x'.repeat(MAX_MESSAGE_BYTES + 1)}`);
      await until(() => heard.includes(0), 'the first message');
      writeSync(pipe.writeFd, 'p 1\0p 2\0');
      await until(() => heard.includes(2), 'the third message');
      expect(heard).toEqual([0, 1, 2]);
    } finally {
      pipe.close();
    }
  });
});

test('the line that is typed keeps $?, also under `set -e`, and survives any path', () => {
  const folder = mkdtempSync(join(tmpdir(), "string-it's a-"));
  try {
    const file = join(folder, 'input');
    writeFileSync(file, 'echo "was $?"; x=5; false || true\n');
    for (const options of ['', 'set -e; ']) {
      const line = runLine(file, 7, newReport(3));
      expect(Buffer.byteLength(line)).toBeLessThan(MAX_TYPED_BYTES);
      const script = `exec ${CONTROL_FD}>&1; ${options}${line.replaceAll('/dev/tty', '/dev/null')} echo "x=$x"`;
      const { stdout } = spawnSync('/bin/bash', ['-c', script], { encoding: 'utf8' });
      expect(stdout).toMatch(/^was 7\nc [0-9a-f]{32} 0 \/.*\0.*x=5\n$/s);
    }
  } finally {
    removeFolder(folder);
  }
});
