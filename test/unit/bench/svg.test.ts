import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawResult, escapeXml } from '../../../bench/harness/svg.js';
import { exampleResult } from './fixtures.js';

describe('drawResult', () => {
  const picture = drawResult(exampleResult());

  test('is well-formed whatever a peer is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
        expect(malformation(drawResult(exampleResult(name)))).toBeUndefined();
      }),
    );
  });

  test('has a bar and a whisker for every row and lines for limit and target', () => {
    expect(count(picture, /<rect class="(?:limit|ours|peer|reference)"/g)).toBe(8);
    expect(count(picture, /<path class="whisker"/g)).toBe(8);
    expect(count(picture, /<path class="at-limit"/g)).toBe(2);
    expect(count(picture, /<path class="at-target"/g)).toBe(2);
  });

  test('says whether a target was met', () => {
    expect(picture).toContain('0.50× ✓');
    expect(picture).toContain('2.00× ✗');
  });

  test('every bar, line and text lies within the picture', () => {
    const [, width = '', height = ''] = /viewBox="0 0 (\d+) (\d+)"/.exec(picture) ?? [];
    const places = (name: string): number[] =>
      [...picture.matchAll(new RegExp(` ${name}="([\\d.-]+)"`, 'g'))].map((match) => Number(match[1]));
    expect(Math.max(...places('x'))).toBeLessThanOrEqual(Number(width));
    expect(Math.max(...places('y'))).toBeLessThanOrEqual(Number(height));
    expect(Math.min(...places('x'), ...places('y'), ...places('width'))).toBeGreaterThanOrEqual(0);
  });

  test('holds no figure that is not a number', () => {
    expect(picture).not.toMatch(/NaN|Infinity|undefined/);
  });

  test('follows the reader from light to dark', () => {
    expect(picture).toContain('prefers-color-scheme: dark');
  });
});

test('escaped text has no mark-up', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (content) => {
      expect(escapeXml(content).replaceAll(/&(?:amp|lt|gt|quot);/g, '')).not.toMatch(/[<>"&]/);
    }),
  );
});

test('characters that XML forbids are replaced, the blanks it allows are kept', () => {
  expect(escapeXml('a\0\u0008\u001F\uFFFEb\t\n')).toBe('a����b\t\n');
});

function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

/** A small XML checker: tags balance, attributes are quoted, text holds no bare mark-up. Says what is wrong, if anything. */
function malformation(xml: string): string | undefined {
  const open: string[] = [];
  const token = /<(\/?)([a-z]+)((?: [\w:-]+="[^"<&]*")*)(\/?)>|(?:[^<&]|&(?:amp|lt|gt|quot);)+/gy;
  let end = 0;
  for (const match of xml.matchAll(token)) {
    end = match.index + match[0].length;
    const [, closes, name, , isEmpty] = match;
    if (name === undefined || isEmpty === '/') continue;
    if (closes === '/' && open.pop() !== name) return `unexpected </${name}>`;
    if (closes === '') open.push(name);
  }
  if (end !== xml.length) return `cannot be read from ${end}: ${xml.slice(end, end + 40)}`;
  return open.length === 0 ? undefined : `left open: ${open.join(', ')}`;
}
