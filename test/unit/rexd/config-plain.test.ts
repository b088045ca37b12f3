// A configuration that is read without the schema is read as the schema reads it.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LimitSet } from '../../../src/guard/limits.js';
import { readConfigFile } from '../../../src/rexd/config-file.js';
import { readPlainly } from '../../../src/rexd/config-plain.js';
import { REXD_LIMITS } from '../../../src/rexd/limits.js';
import { runs } from '../../helpers/runs.js';

/** What the schema makes of it, or undefined when it refuses. */
async function readWhole(source: string): Promise<object | undefined> {
  try {
    const { server, security, audit, limits } = await readConfigFile('c.toml', source);
    return { server, security, audit, limits: limits.toJSON() };
  } catch {
    return undefined;
  }
}

/** The same without it; undefined when it has to be asked. */
function readLightly(source: string): object | undefined {
  const plain = readPlainly(source);
  if (plain === undefined) return undefined;
  try {
    return { ...plain.settings, limits: new LimitSet(REXD_LIMITS, plain.limits).toJSON() };
  } catch {
    return undefined;
  }
}

const USUAL = `
# a server for two folders
[server]
stdio = true
log_level = "info"   # as usual
state_dir = '/var/lib/x'
resume_window_ms = 0
[limits]
max_output_bytes = 4096
[security]
allow_shell = false
hard_links = "refuse"
[[security.allowed_roots]]
path = "/srv/#1"
[[security.allowed_roots]]
path = "/opt"
[audit]
enabled = false
`;

test('a usual configuration is read without the schema', async () => {
  for (const source of ['', '\n# nothing\n', USUAL, USUAL.replaceAll(' = ', '=')]) {
    expect(readLightly(source)).toBeDefined();
    expect(readLightly(source)).toEqual(await readWhole(source));
  }
  const example = fileURLToPath(new URL('../../../docs/examples/rexd.toml', import.meta.url));
  const source = readFileSync(example, 'utf8');
  expect(readLightly(source) ?? (await readWhole(source))).toEqual(await readWhole(source));
});

const NOT_PLAIN = [
  'stdio = true',
  '[server]\nstdio = "yes"',
  '[server]\nstdio = true\nstdio = true',
  '[server]\n[server]',
  '[server]\nhttp_listen = "127.0.0.1:1"',
  '[server]\nstate_dir = "x"',
  '[server]\nreport_version = ""',
  '[server]\nlog_level = "loud"',
  '[server]\nresume_window_ms = 99999999999',
  '[nothing]',
  '[limits]\nmax_output_bytes = 0',
  '[limits]\nmax_output_bytes = 1_000',
  '[limits]\nmax_output_bytes = 0x10',
  '[limits]\nmax_output_bytes = 1.5',
  '[limits]\nof_tomorrow = 1',
  '[[security.allowed_roots]]',
  '[[security.allowed_roots]]\npath = "/a"\n[security]\nallow_shell = true',
  '[security]\nallow_commands = ["ls"]',
  '[security]\nallowed_roots = [{ path = "/a" }]',
  '[[security.allowed_roots]]\npath = "/a\\tb"',
  '[[security.allowed_roots]]\npath = """/a"""',
  '[[security.allowed_roots]]\npath = "/a" "/b"',
  '[[security.allowed_roots]]\npath = "/ä"',
  '[[security.allowed_roots]]\npath = "/a',
  '[server]\r\nstdio = true',
  '[audit]\n__proto__ = true',
];

test('whatever is wrong or unusual is left to the schema', () => {
  for (const source of NOT_PLAIN) expect([source, readLightly(source)]).toEqual([source, undefined]);
});

const WORDS = [
  '[server] [limits] [security] [audit] [[security.allowed_roots]] stdio log_level report_version state_dir',
  'resume_window_ms http_path max_output_bytes default_timeout_ms hard_timeout_ms max_concurrent_sessions',
  'allow_shell allow_detach hard_links enabled path keep true false 0 1 007 30000 86400000 86400001 +5 -1 1e3',
  '9007199254740993 "/a" \'/b\' "" "info" "allow" "x#y" """ \'\' "\\n" # #note',
].flatMap((words) => words.split(' '));

test('what is read without the schema is what the schema reads, of any text', async () => {
  const word = fc.constantFrom(...WORDS);
  const line = fc.oneof(
    fc
      .tuple(word, fc.constantFrom('=', ' = ', ' ='), word, fc.constantFrom('', ' # note', ' x'))
      .map((all) => all.join('')),
    word,
    fc.string({ maxLength: 12 }),
  );
  const source = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));
  await fc.assert(
    fc.asyncProperty(source, async (text) => {
      const whole = await readWhole(text);
      expect(readLightly(text) ?? whole).toEqual(whole);
    }),
    { numRuns: runs(10_000) },
  );
});
