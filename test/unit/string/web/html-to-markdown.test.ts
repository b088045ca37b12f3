// HTML as Markdown: what is read of a page, and what a page made to take long costs.

import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { writeEndTags } from '../../../../src/string/web/html-end-tags.js';
import { cutHtml, textPart } from '../../../../src/string/web/html-pieces.js';
import {
  htmlToMarkdown,
  MAX_HTML_DEPTH,
  MAX_HTML_MS,
  MAX_HTML_PIECE_CHARS,
} from '../../../../src/string/web/html-to-markdown.js';
import { runs } from '../../../helpers/runs.js';

describe('HTML as Markdown', () => {
  test('has headings, links, lists and code, and nothing of what is around them', async () => {
    const html =
      '<body><NAV>menu</NAV><!-- <p>no</p> --><article><header>h</header><h2>Head</h2><ul><li>a</li><li><a href="/x">b</a></li></ul><pre><code>x &lt; y\n  z</code></pre><script>if (a<b) "</p>"</script><p>end<br>line</p></article><footer>f</footer></body>';
    expect(await htmlToMarkdown(html)).toBe(
      '## Head\n\n- a\n- [b](/x)\n\n```\nx < y\n  z\n```\n\nend  \nline\n',
    );
  });

  test('a long page is taken in pieces, and reads the same', async () => {
    const one = '<p>some <b>words</b> and <a href="/y">a link</a></p>';
    const count = 2000;
    const text = await htmlToMarkdown(`<main>${one.repeat(count)}</main>`);
    expect(text.trim().split('\n\n')).toEqual(
      Array.from({ length: count }, () => 'some **words** and [a link](/y)'),
    );
    expect(cutHtml(one.repeat(count)).length).toBeGreaterThan(5);
    const list = `<ul>${'<li>x</li>'.repeat(1500)}</ul>`;
    expect(cutHtml(list)).toHaveLength(1);
  });

  test('of what is longer than MAX_HTML_PIECE_CHARS in one piece, or deeper than MAX_HTML_DEPTH, the text is left', async () => {
    const list = `<ul>${'<li>x &amp; y</li>'.repeat(MAX_HTML_PIECE_CHARS / 16)}</ul>`;
    expect((await htmlToMarkdown(list)).slice(0, 13)).toBe('x & y\n\nx & y\n');
    expect(await htmlToMarkdown(`${'<div>'.repeat(MAX_HTML_DEPTH + 1)}deep`)).toBe('deep\n');
    expect(await htmlToMarkdown(`${'<div>'.repeat(200_000)}deep`)).toBe('deep\n');
    for (const hostile of ['<nav>', '<!--', '<', '<script', '<p', '<main>', '</p>', '&amp;', '<ul><li>a'])
      await htmlToMarkdown(hostile.repeat(100_000));
  });

  test('is made of any text at all, and pieces are all of it', async () => {
    const part = fc.constantFrom(
      '<p>',
      '</p>',
      '<ul>',
      '<li>',
      '</ul>',
      '<pre>',
      '</pre>',
      '<nav>',
      '</nav>',
      '<!--',
      '-->',
      '<',
      '>',
      'x',
      '&amp;',
      '<a href="y">',
      '</a>',
      '<br>',
      '<main>',
      '</main>',
      '\n',
      '<script>',
      '</script>',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 30 }), async (parts) => {
        const html = parts.join('');
        await htmlToMarkdown(html);
        expect(
          cutHtml(html)
            .map(({ text }) => text)
            .join(''),
        ).toBe(html);
        textPart(html);
      }),
      { numRuns: runs(1000) },
    );
  });
});

test('of a page that takes too long, what is left is read by its text', async () => {
  const piece = `<p><b>word</b> ${'text '.repeat(2000)}</p>`;
  const clock = vi
    .spyOn(process, 'cpuUsage')
    .mockImplementation((since) => ({ user: since === undefined ? 0 : MAX_HTML_MS * 1000, system: 0 }));
  try {
    const text = await htmlToMarkdown(piece.repeat(3));
    expect(text.match(/\*\*word\*\*/gu)).toHaveLength(1);
    expect(text.match(/word/gu)).toHaveLength(3);
  } finally {
    clock.mockRestore();
  }
});

test('a number without an end is text like any other', async () => {
  const digits = '1'.repeat(60_000);
  expect(await htmlToMarkdown(`<p>${digits}</p>`.repeat(40))).toContain(digits);
});

test('rows, cells and entries end where HTML says so, written or not', async () => {
  expect(await htmlToMarkdown('<table><tr><th>a<th>b<tr><td>1<td>2<tr><td>3<td>4</table><p>end')).toBe(
    '| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n\nend\n',
  );
  expect(await htmlToMarkdown('<ul><li>a<ul><li>b<li>c</ul><li>d</ul>')).toBe('- a\n  - b\n  - c\n- d\n');
  expect(await htmlToMarkdown('<table><thead><tr><th>a<th>b<tbody><tr><td>1<td>2</table>')).toBe(
    '| a | b |\n| - | - |\n| 1 | 2 |\n',
  );
  const whole = '<table><tbody><tr><td>1</td><td><ul><li>x</li></ul></td></tr></tbody></table>';
  expect(writeEndTags(whole)).toBe(whole);
  expect(writeEndTags('<dl><dt>t<dd>d<dt>u</dl>')).toBe('<dl><dt>t</dt><dd>d</dd><dt>u</dt></dl>');
  expect(writeEndTags('<table><tr><td><table><tr><td>i</table><td>2</table>')).toBe(
    '<table><tr><td><table><tr><td>i</td></tr></table></td><td>2</td></tr></table>',
  );
  expect(writeEndTags('</td><td>x</tr></table><ul>')).toBe('</td><td>x</tr></table><ul></ul></td>');
});
