import { expect, test } from 'vitest';
import { formatJson } from '../../../bench/harness/store.js';
import { formatFigure, formatRatio, formatResult, layOut } from '../../../bench/harness/table.js';
import { exampleResult } from './fixtures.js';

test.each([
  [0, '0'],
  [0.012_345, '0.0123'],
  [4.5678, '4.57'],
  [999.4, '999'],
  [12_345, '12 300'],
  [1_234_567, '1 230 000'],
])('%d is printed as %s', (value, text) => {
  expect(formatFigure(value)).toBe(text);
});

test.each([
  [0, '0.00×'],
  [0.5234, '0.52×'],
  [12.4, '12.40×'],
  [0.003_14, '0.0031×'],
])('a ratio of %d is printed as %s', (value, text) => {
  expect(formatRatio({ value })).toBe(text);
});

test('columns line up: text to the left, figures to the right', () => {
  expect(
    layOut([
      ['a', '1'],
      ['bcd', '100'],
    ]),
  ).toEqual(['a      1', 'bcd  100']);
});

test('a result is printed with ratios, roles and verdicts', () => {
  expect(formatResult(exampleResult())).toMatchInlineSnapshot(`
    "example: this & that, <not> "real"
    3 rounds, 2 CPUs, node v20.0.0, load 0.5

      rates (per second; ratio to the limit)
        contender  median        q1 – q3  cpu µs/op  ratio      q1 – q3
        limit       9 090  8 710 – 9 550         55  1.00×               limit
        ours        4 550  4 360 – 4 770        110  0.50×  0.50 – 0.50
        peer        2 270  2 180 – 2 390        220  0.25×  0.25 – 0.25  peer, ours is 2.00× this
        reference   6 250  6 070 – 6 460         80  0.69×  0.68 – 0.70  reference
        PASS  ours: 0.50× of the limit, target ≥ 0.4×

      times (ms; ratio to the limit)
        contender  median        q1 – q3  cpu µs/op  ratio      q1 – q3
        limit        0.11  0.105 – 0.115         55  1.00×               limit
        ours         0.22    0.21 – 0.23        110  2.00×  2.00 – 2.00
        peer         0.44    0.42 – 0.46        220  4.00×  4.00 – 4.00  peer, ours is 0.50× this
        reference    0.16  0.155 – 0.165         80  1.45×  1.44 – 1.48  reference
        FAIL  ours: 2.00× of the limit, target ≤ 1.6×"
  `);
});

test('JSON keeps six significant digits and whole numbers as they are', () => {
  expect(formatJson({ a: 1.234_567_89, b: 123_456_789 })).toBe('{\n  "a": 1.23457,\n  "b": 123456789\n}\n');
});
