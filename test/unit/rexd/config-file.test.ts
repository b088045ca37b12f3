// The configuration file: every key, what is said of wrong ones, and where.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  MAX_AUDIT_FILES,
  MIN_AUDIT_BYTES,
  readConfigFile,
  refuseRoot,
} from '../../../src/rexd/config-file.js';
import { lineOfKey } from '../../../src/rexd/config-line.js';
import { ConfigError, DEFAULTS, type RexdConfig } from '../../../src/rexd/settings.js';
import { removeFolder } from '../../helpers/remove-folder.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hawser-config-'));
});
afterEach(() => removeFolder(folder));

async function read(text: string): Promise<RexdConfig> {
  const file = join(folder, 'c.toml');
  writeFileSync(file, text);
  return await readConfigFile(file);
}

/** What is thrown, or undefined. */
async function thrownBy(action: () => unknown): Promise<unknown> {
  try {
    await action();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

async function refusal(text: string): Promise<string> {
  const thrown = await thrownBy(() => read(text));
  return thrown instanceof ConfigError
    ? thrown.message.replace(join(folder, 'c.toml'), 'FILE')
    : `accepted: ${text}`;
}

test('an empty file means the defaults', async () => {
  const { limits, policy: _policy, file: _file, lineOf: _lineOf, ...settings } = await read('');
  expect(settings).toEqual(DEFAULTS);
  expect(limits.toJSON()).toEqual({
    default_timeout_ms: 30_000,
    hard_timeout_ms: 300_000,
    max_output_bytes: 1_048_576,
    max_file_read_bytes: 1_048_576,
    max_processes_per_session: 8,
    max_concurrent_sessions: 16,
  });
});

test('the example of the specification is read to the letter', async () => {
  const config = await read(`
[server]
stdio = true
log_level = "info"

[limits]
default_timeout_ms = 30000
hard_timeout_ms = 300000
max_output_bytes = 1048576
max_file_read_bytes = 1048576
max_processes_per_session = 8
max_concurrent_sessions = 16

[security]
allow_shell = true

[[security.allowed_roots]]
path = "/srv/myapp"

[[security.allowed_roots]]
path = "/home/deploy/projects"

[audit]
enabled = true
path = "/var/log/rexd/audit.log"
`);
  expect(config.security.allowed_roots).toEqual([{ path: '/srv/myapp' }, { path: '/home/deploy/projects' }]);
  expect(config.audit).toMatchObject({ enabled: true, path: '/var/log/rexd/audit.log' });
});

test('every key changes what it names', async () => {
  const values: [string, string, unknown, (config: RexdConfig) => unknown][] = [
    ['server', 'stdio = false', false, ({ server }) => server.stdio],
    ['server', 'log_level = "warn"', 'warn', ({ server }) => server.log_level],
    ['server', 'report_version = "9.9.9"', '9.9.9', ({ server }) => server.report_version],
    ['limits', 'default_timeout_ms = 7', 7, ({ limits }) => limits.get('default_timeout_ms')],
    ['limits', 'hard_timeout_ms = 70000', 70_000, ({ limits }) => limits.get('hard_timeout_ms')],
    ['limits', 'max_output_bytes = 7', 7, ({ limits }) => limits.get('max_output_bytes')],
    ['limits', 'max_file_read_bytes = 7', 7, ({ limits }) => limits.get('max_file_read_bytes')],
    ['limits', 'max_processes_per_session = 7', 7, ({ limits }) => limits.get('max_processes_per_session')],
    ['limits', 'max_concurrent_sessions = 7', 7, ({ limits }) => limits.get('max_concurrent_sessions')],
    ['security', 'allow_shell = false', false, ({ security }) => security.allow_shell],
    ['security', 'allow_commands = ["git"]', ['git'], ({ security }) => security.allow_commands],
    ['security', 'deny_commands = ["rm"]', ['rm'], ({ security }) => security.deny_commands],
    ['security', 'hard_links = "refuse"', 'refuse', ({ security }) => security.hard_links],
    ['security', 'sudo = []', [], ({ security }) => security.sudo],
    ['security', 'classes = ["read-only"]', ['read-only'], ({ security }) => security.classes],
    ['security', 'pass_env = ["CI"]', ['CI'], ({ security }) => security.pass_env],
    ['security.sandbox', 'mode = "auto"', 'auto', ({ security }) => security.sandbox.mode],
    ['security.sandbox', 'network = false', false, ({ security }) => security.sandbox.network],
    ['security.sandbox', 'read_write = ["/a"]', ['/a'], ({ security }) => security.sandbox.read_write],
    ['security.sandbox', 'read_only = ["/a"]', ['/a'], ({ security }) => security.sandbox.read_only],
    ['audit', 'enabled = true', true, ({ audit }) => audit.enabled],
    ['audit', 'path = "/a"', '/a', ({ audit }) => audit.path],
    ['audit', 'max_bytes = 65536', 65_536, ({ audit }) => audit.max_bytes],
    ['audit', 'keep = 1', 1, ({ audit }) => audit.keep],
  ];
  for (const [table, line, value, get] of values)
    expect(get(await read(`[${table}]\n${line}\n`)), line).toEqual(value);
});

test('an unknown key is refused with its line and the one that was probably meant', async () => {
  const wrong: [string, string][] = [
    [
      '\n[limits]\nmax_output_byte = 5',
      'line 3: limits.max_output_byte: unknown key; did you mean "max_output_bytes"?',
    ],
    ['[limts]\n', 'line 1: limts: unknown key; did you mean "limits"?'],
    ['[security.sandbx]\nmode = "off"', 'line 1: security.sandbx: unknown key; did you mean "sandbox"?'],
    ['[security.sandbox]\nmod = "off"', 'line 2: security.sandbox.mod: unknown key; did you mean "mode"?'],
    [
      '[[security.allowed_roots]]\npath = "/a"\n[[security.allowed_roots]]\npth = "/b"',
      'line 4: security.allowed_roots[1].pth: unknown key; did you mean "path"?',
    ],
    ['[audit]\nenable = true', 'line 2: audit.enable: unknown key; did you mean "enabled"?'],
    [
      '[server]\nreport_versio = "1"',
      'line 2: server.report_versio: unknown key; did you mean "report_version"?',
    ],
  ];
  for (const [text, message] of wrong) expect(await refusal(text)).toContain(message);
});

test('a value of the wrong type or out of range names the key and the line', async () => {
  const wrong: [string, string][] = [
    ['[server]\nstdio = "yes"', 'line 2: server.stdio: expected boolean, got string'],
    [
      '[security]\n# a comment\nallow_shell = 1',
      'line 3: security.allow_shell: expected boolean, got number',
    ],
    ['security.allow_shell = 1', 'line 1: security.allow_shell: expected boolean, got number'],
    ['[security]\nallow_commands = "git"', 'line 2: security.allow_commands: expected array, got string'],
    [
      '[security.sandbox]\nmode = "on"',
      'line 2: security.sandbox.mode: expected "off" or "auto" or "required", got "on"',
    ],
    [
      '[security.sandbox]\nread_write = ["cache"]',
      'line 2: security.sandbox.read_write[0]: must be an absolute path',
    ],
    [
      `[audit]\nmax_bytes = ${MIN_AUDIT_BYTES - 1}`,
      `line 2: audit.max_bytes: must be at least ${MIN_AUDIT_BYTES}`,
    ],
    [`[audit]\nkeep = ${MAX_AUDIT_FILES + 1}`, `line 2: audit.keep: must be at most ${MAX_AUDIT_FILES}`],
    ['[limits]\n\nmax_output_bytes = 0', 'line 3: limits.max_output_bytes: expected a whole number'],
    ['[security]\ndeny_commands = ["a", ""]', 'line 2: security.deny_commands'],
    ['[security]\nallow_commands = [\n"git",\n"./x"\n]', 'line 2: security.allow_commands'],
    ['[security]\nhard_links = "no"', 'line 2: security.hard_links: expected "allow" or "refuse", got "no"'],
    ['[[security.allowed_roots]]\n', 'line 1: security.allowed_roots[0].path: is required (string)'],
  ];
  for (const [text, message] of wrong) expect(await refusal(text)).toContain(message);
});

test('what looks like a key inside a text is none', () => {
  const text = [
    '[server]',
    'report_version = """',
    'stdio = 1',
    '[limits]',
    '"""',
    "x = '''a",
    'stdio = 2',
    '\'\'\' # """ a comment opens nothing',
    `y = "\\" ''' z"`,
    'stdio = true',
  ].join('\n');
  expect(lineOfKey(text, 'server.stdio')).toBe(10);
});

test('a root that cannot be used is told with its file, its line and its key', async () => {
  const config = await read(
    '[[security.allowed_roots]]\npath = "/"\n[[security.allowed_roots]]\npath = "x"\n',
  );
  expect(refuseRoot(config, 1, 'must be absolute', undefined).message).toBe(
    `${config.file}: line 4: security.allowed_roots[1].path: must be absolute`,
  );
});

test('text that is no TOML is refused with the place where it stops making sense', async () => {
  expect(await refusal('[server]\nstdio = maybe\n')).toMatch(/2:|line 2/);
});

test('what is no file says so', async () => {
  const file = join(folder, 'c.toml');
  await expect(readConfigFile(file)).rejects.toThrow('no such file');
  await expect(readConfigFile(folder)).rejects.toThrow('is not a regular file');
});

test('any text at all is either read or refused with a ConfigError', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (text, path) => {
      lineOfKey(text, path);
      const thrown = await thrownBy(() => read(text));
      expect(thrown === undefined || thrown instanceof ConfigError).toBe(true);
    }),
  );
});
