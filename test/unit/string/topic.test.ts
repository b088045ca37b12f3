// Names of topics: the table of the specification, the strict switch, and what holds for any text.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HUBS, MAX_SEGMENT_CHARS, parseTopic } from '../../../src/string/topic.js';

describe('what is accepted', () => {
  test.each([
    ['', 'tab', 'main'],
    ['  ', 'tab', 'main'],
    [undefined, 'tab', 'main'],
    ['docs', 'tab', 'docs'],
    [' docs ', 'tab', 'docs'],
    ['my_s-1', 'tab', 'my_s-1'],
    ['Main', 'tab', 'Main'],
    ['app', 'hub', 'app'],
    ['event', 'hub', 'event'],
    ['system', 'hub', 'system'],
    ['app:weather', 'app', 'app:weather'],
    ['app:weather:korea', 'app', 'app:weather:korea'],
    ['bash:dev', 'bash', 'bash:dev'],
    ['file:notes', 'tab', 'notes'],
    ['file:main', 'tab', 'main'],
    ['web:docs', 'tab', 'web:docs'],
    ['web:app', 'tab', 'web:app'],
    ['web:main', 'tab', 'web:main'],
  ])('%j is a %s called %j', (raw, type, name) => {
    expect(parseTopic(raw)).toMatchObject({ type, name });
  });

  test('an app topic knows its app and its config', () => {
    expect(parseTopic('app:weather:korea')).toEqual({
      type: 'app',
      name: 'app:weather:korea',
      app: 'weather',
      config: 'korea',
    });
    expect(parseTopic('app:weather')).toEqual({ type: 'app', name: 'app:weather', app: 'weather' });
  });

  test('a part may have MAX_SEGMENT_CHARS characters and no more', () => {
    const longest = 'x'.repeat(MAX_SEGMENT_CHARS);
    for (const form of ['', 'file:', 'web:', 'app:', 'app:a:', 'bash:']) {
      expect(parseTopic(`${form}${longest}`), form).toBeDefined();
      expect(parseTopic(`${form}${longest}x`), form).toBeUndefined();
    }
  });
});

describe('what is refused', () => {
  test.each([
    'intro.md',
    'my session',
    'app:',
    'bash:',
    'file:',
    'web:',
    ':',
    ':x',
    'ftp:x',
    'app:bad/name',
    'bad!name',
    'app:a:b:c',
    'bash:a:b',
    'file:a:b',
    'web:a:b',
    'file:app',
    'file:event',
    'APP:x',
    'tool:x',
    'agent:x',
    'a\nb',
    'naïve',
    '../x',
    'app::x',
    'app:x:',
  ])('%j', (raw) => {
    expect(parseTopic(raw)).toBeUndefined();
  });

  test('strictly, the forms of the transport seed as well, and nothing else', () => {
    for (const raw of ['file:notes', 'web:docs']) expect(parseTopic(raw, { strict: true })).toBeUndefined();
    for (const raw of ['', 'docs', 'app:a:b', 'bash:x', ...HUBS])
      expect(parseTopic(raw, { strict: true })).toEqual(parseTopic(raw));
  });
});

describe('whatever the text', () => {
  const topicLike = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^(app|bash|file|web|tool|)?:?[A-Za-z0-9_-]{0,5}:?[A-Za-z0-9_:.-]{0,5}$/),
  );

  test('the canonical spelling means itself, and the same topic', () => {
    fc.assert(
      fc.property(topicLike, fc.boolean(), (raw, strict) => {
        const topic = parseTopic(raw, { strict });
        if (topic === undefined) return;
        expect(parseTopic(topic.name)).toEqual(topic);
        expect(topic.name).toMatch(/^(?:(?:app|bash|web):)?[\w-]{1,64}(?::[\w-]{1,64})?$/u);
      }),
      { numRuns: 5000 },
    );
  });

  test('two spellings are one topic only where the seeds say so: blanks, `file:`, and nothing for `main`', () => {
    fc.assert(
      fc.property(topicLike, topicLike, (a, b) => {
        const plain = (raw: string): string => raw.trim().replace(/^file:/u, '') || 'main';
        const [one, other] = [parseTopic(a), parseTopic(b)];
        const same = one !== undefined && one.name === other?.name;
        expect(!same || plain(a) === plain(b)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});
