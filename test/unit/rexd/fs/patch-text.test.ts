import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RpcError } from '../../../../src/base/errors.js';
import { MAX_PATCH_FILES, MAX_PATCH_LINES, parsePatch } from '../../../../src/rexd/fs/patch-text.js';
import { runs } from '../../../helpers/runs.js';

const patch = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

describe('what a patch says', () => {
  test('adds, deletes, updates and moves', () => {
    const changes = parsePatch(
      patch(
        '*** Add File: a',
        '+one',
        '+',
        '*** Delete File: b',
        '*** Update File: c',
        '*** Move to: d',
        '@@ ctx',
        ' k',
        '-o',
        '+n',
      ),
    );
    expect(changes).toEqual([
      { kind: 'add', path: 'a', lines: ['one', ''] },
      { kind: 'delete', path: 'b' },
      {
        kind: 'update',
        path: 'c',
        moveTo: 'd',
        hunks: [
          {
            line: 8,
            contexts: ['ctx'],
            lines: [
              { kind: 'keep', text: 'k' },
              { kind: 'drop', text: 'o' },
              { kind: 'add', text: 'n' },
            ],
            looseEnd: 0,
            atEnd: false,
          },
        ],
      },
    ]);
  });

  test('space around the envelope, CRLF throughout and line numbers after @@ are taken', () => {
    const text = `\n${patch('*** Update File: c', '@@ -1,2 +1,3 @@ def f():', '-o', '+n')}\n\n`;
    for (const written of [text, text.replaceAll('\n', '\r\n')]) {
      const [change] = parsePatch(written);
      expect(change).toMatchObject({
        path: 'c',
        hunks: [{ contexts: ['def f():'], lines: [{ text: 'o' }, { text: 'n' }] }],
      });
    }
  });

  test('a carriage return in some lines is content', () => {
    expect(parsePatch(patch('*** Add File: a', '+one\r', '+two'))).toMatchObject([
      { lines: ['one\r', 'two'] },
    ]);
  });

  test('a hunk may go without @@, several @@ are several contexts, a blank line is a blank line', () => {
    const [change] = parsePatch(
      patch('*** Update File: c', '-o', '', '+n', '@@ class A', '@@   def f', '-x', '*** End of File'),
    );
    expect(change).toMatchObject({
      hunks: [
        { contexts: [], lines: [{ kind: 'drop' }, { kind: 'keep', text: '' }, { kind: 'add' }] },
        { contexts: ['class A', '  def f'], atEnd: true },
      ],
    });
  });
});

describe('refused, with the line', () => {
  test.each([
    ['', 1],
    ['*** Begin Patch', 2],
    [patch(), 2],
    [`${patch('*** Delete File: a')}\nmore`, 4],
    [patch('*** Add File:'), 2],
    [patch('*** Add File: a', 'no plus'), 3],
    [patch('*** Update File: a'), 2],
    [patch('*** Update File: a', '@@'), 3],
    [patch('*** Update File: a', '@@', '\\ No newline at end of file'), 4],
    [patch('*** Update File: a', '*** Move to:'), 3],
    [patch('*** Move to: a'), 2],
    [patch('*** Rename File: a'), 2],
    [patch('+stray'), 2],
  ])('%j', (text, line) => {
    expect(() => parsePatch(text)).toThrow(
      expect.objectContaining({ code: -32602, data: expect.objectContaining({ line }) }),
    );
  });

  test('more files than a patch may name', () => {
    const many = Array.from({ length: MAX_PATCH_FILES + 1 }, (_, i) => `*** Delete File: ${i}`);
    expect(() => parsePatch(patch(...many))).toThrow(/more than 1000 files/);
    expect(parsePatch(patch(...many.slice(1)))).toHaveLength(MAX_PATCH_FILES);
  });
});

test('whatever is sent is a patch or refused', () => {
  const line = fc.oneof(
    fc.constantFrom(
      '*** Begin Patch',
      '*** End Patch',
      '*** Update File: a',
      '*** Add File: b',
      '*** Move to: c',
      '@@',
      '@@ x',
    ),
    fc.constantFrom('*** End of File', '+a', '-a', ' a', '', '\r'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      expect(outcome(['*** Begin Patch', ...lines].join('\n'))).not.toBe('something else');
    }),
    { numRuns: runs(3000) },
  );
});

function outcome(text: string): 'read' | 'refused' | 'something else' {
  try {
    parsePatch(text);
    return 'read';
  } catch (error) {
    return error instanceof RpcError ? 'refused' : 'something else';
  }
}

test(`a patch has no more than ${MAX_PATCH_LINES} lines`, () => {
  const patch = (lines: number): string =>
    `*** Begin Patch\n*** Add File: f\n${'+\n'.repeat(lines - 3)}*** End Patch\n`;
  expect(parsePatch(patch(MAX_PATCH_LINES))).toHaveLength(1);
  expect(() => parsePatch(patch(MAX_PATCH_LINES + 1))).toThrow(expect.objectContaining({ code: -32008 }));
});
