// The command line of a sandbox, and how it is found out whether there can be one.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Sandbox, type SandboxRules } from '../../../src/guard/sandbox.js';
import { openSandbox, PROBE_MS } from '../../../src/guard/sandbox-probe.js';
import { ForbiddenPathError } from '../../../src/host/files/errors.js';
import { LaunchError } from '../../../src/host/process/launch-error.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const TOOLS = { bwrap: '/usr/bin/bwrap', env: '/usr/bin/env' };
const RULES: SandboxRules = { network: true, readWrite: [], readOnly: [] };
const PATH = '/usr/bin:/bin';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-sandbox-')));
});
afterEach(() => removeFolder(folder));

function wrap(
  argv: readonly string[],
  {
    rules = RULES,
    env = {},
    roots = [folder],
    detach = false,
  }: {
    rules?: SandboxRules;
    env?: Record<string, string>;
    roots?: readonly string[];
    detach?: boolean;
  } = {},
): { argv: readonly string[]; env: Record<string, string> } {
  const launch = { argv, cwd: folder, env: { PATH, ...env } };
  return new Sandbox(TOOLS, rules).wrap(launch, { roots, detach });
}

/** The words after each occurrence of a flag. */
function after(argv: readonly string[], flag: string, count: number): string[] {
  return argv.flatMap((word, i) => (word === flag ? [argv.slice(i + 1, i + 1 + count).join(' ')] : []));
}

test('everything can be read, the roots can be written, and /tmp, /run, /proc and /dev are its own', () => {
  const { argv } = wrap(['true']);
  expect(argv[0]).toBe('/usr/bin/env');
  expect(argv[2]).toBe('/usr/bin/bwrap');
  expect(after(argv, '--ro-bind', 2)).toEqual(['/ /']);
  expect(after(argv, '--bind', 2)).toEqual([`${folder} ${folder}`]);
  expect(after(argv, '--tmpfs', 1)).toEqual(['/tmp', '/run']);
  expect(after(argv, '--proc', 1)).toEqual(['/proc']);
  expect(after(argv, '--dev', 1)).toEqual(['/dev']);
  expect(after(argv, '--chdir', 1)).toEqual([folder]);
  expect(after(argv, '--cap-drop', 1)).toEqual(['ALL']);
  expect(argv).toContain('--unshare-pid');
  expect(argv).toContain('--die-with-parent');
  expect(argv).not.toContain('--unshare-net');
});

test('the settings of the kernel cannot be written, not even by root', () => {
  const { argv } = wrap(['true']);
  expect(after(argv, '--ro-bind-try', 2)).toContain('/proc/sys /proc/sys');
  expect(argv.indexOf('--ro-bind-try')).toBeGreaterThan(argv.indexOf('--proc'));
});

test('a root in a private folder is bound after it, or it would be hidden', () => {
  const { argv } = wrap(['true']);
  expect(argv.indexOf('--bind')).toBeGreaterThan(argv.lastIndexOf('--tmpfs'));
});

test('what is read-only covers what is writable', () => {
  const rules = { network: false, readWrite: ['/var/cache'], readOnly: [join(folder, '.git')] };
  const { argv } = wrap(['true'], { rules });
  expect(argv).toContain('--unshare-net');
  expect(after(argv, '--bind', 2)).toContain('/var/cache /var/cache');
  expect(after(argv, '--ro-bind-try', 1).at(-1)).toBe(join(folder, '.git'));
  expect(argv.lastIndexOf('--ro-bind-try')).toBeGreaterThan(argv.lastIndexOf('--bind'));
});

test('of folders within each other the innermost counts, and of the same folder the read-only one', () => {
  const root = '/tmp/root'; // as deep as the others
  const [git, hooks] = [join(root, '.git'), join(root, '.git/hooks')];
  const rules = { network: true, readWrite: [hooks, '/var/x'], readOnly: ['/var/x', git, '/tmp', '/'] };
  const argv = new Sandbox(TOOLS, rules).commandLine([], { roots: [root], detach: false }, ['true']);
  const binds = argv.flatMap((word, i) =>
    /^--(ro-)?bind(-try)?$/.test(word) && argv[i + 1]?.startsWith('/proc') === false
      ? [`${word} ${argv[i + 1]}`]
      : [],
  );
  expect(binds).toEqual([
    '--ro-bind /',
    '--ro-bind-try /tmp',
    // As deep as each other: the roots come first.
    `--bind ${root}`,
    '--bind /var/x',
    '--ro-bind-try /var/x',
    `--ro-bind-try ${git}`,
    `--bind ${hooks}`,
  ]);
  expect(after(wrap(['true'], { rules, roots: ['/'] }).argv, '--bind', 1), 'read-only counts').not.toContain(
    '/',
  );
});

test('a root that is the whole file system makes it writable, and nothing else changes', () => {
  const { argv } = wrap(['true'], { roots: ['/'] });
  expect(after(argv, '--bind', 2)).toEqual(['/ /']);
  expect(argv).not.toContain('--ro-bind');
  expect(after(argv, '--tmpfs', 1)).toEqual(['/tmp', '/run']);
});

test('what is detached does not die with us', () => {
  expect(wrap(['true'], { detach: true }).argv).not.toContain('--die-with-parent');
});

test('variables that load code are set only inside', () => {
  const { argv, env } = wrap(['true'], {
    env: { LD_PRELOAD: '/x.so', GLIBC_TUNABLES: 'a=b', API_KEY: 'hunter2' },
  });
  expect(env).toEqual({ PATH, API_KEY: 'hunter2' });
  expect(after(argv, '--setenv', 2)).toEqual(['LD_PRELOAD /x.so', 'GLIBC_TUNABLES a=b']);
  expect(argv.join(' '), 'a command line can be read by every user').not.toContain('hunter2');
});

test('a temporary folder that cannot be written inside is left out', () => {
  expect(after(wrap(['true'], { env: { TMPDIR: '/var/tmp' } }).argv, '--setenv', 2)).toEqual([]);
  const inside = join(folder, 't');
  expect(after(wrap(['true'], { env: { TMPDIR: inside } }).argv, '--setenv', 2)).toEqual([
    `TMPDIR ${inside}`,
  ]);
});

test('the words of the command come last and as they are, whatever they look like', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (args) => {
      const { argv } = wrap(['true', ...args]);
      expect(argv.slice(-args.length - 1)).toEqual(['true', ...args]);
      expect(argv.slice(0, -args.length - 1).at(-1)).toBe('--');
    }),
  );
});

test('a program whose name holds an equals sign is not taken for a variable', () => {
  const program = join(folder, 'a=b');
  writeFileSync(program, '');
  chmodSync(program, 0o755);
  expect(wrap([program, 'x']).argv.slice(-6)).toEqual([
    '--',
    '/bin/sh',
    '-c',
    'exec "$0" "$@"',
    program,
    'x',
  ]);
});

test('a program that is not there is refused as without a sandbox', () => {
  for (const program of ['no-such-program', '/no/such', folder])
    expect(() => wrap([program])).toThrow(
      expect.objectContaining({ name: LaunchError.name, code: 'program_not_found' }),
    );
});

test('a root that has become a link since it was allowed is not bound', () => {
  const root = join(folder, 'root');
  mkdirSync(root);
  renameSync(root, `${root}-moved`);
  expect(() => wrap(['true'], { roots: [root] })).toThrow(ForbiddenPathError);
  symlinkSync('/etc', root);
  expect(() => wrap(['true'], { roots: [root] })).toThrow(ForbiddenPathError);
});

const fakeBwrap = (script: string): string => {
  writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'bwrap'), 0o755);
  return folder;
};

test('a bwrap that works gives a sandbox', async () => {
  expect(await openSandbox(RULES, { path: fakeBwrap('exit 0'), probeMs: 60_000 })).toBeInstanceOf(Sandbox);
});

test('a bwrap that does not work gives its own words', async () => {
  const path = fakeBwrap('echo "bwrap: No permissions to create new namespace" >&2; exit 1');
  expect(await openSandbox(RULES, { path, probeMs: 60_000 })).toEqual({
    problem: 'bwrap does not work here: bwrap: No permissions to create new namespace',
  });
});

test('a bwrap that does not end is not waited for', async () => {
  expect(PROBE_MS).toBeLessThanOrEqual(10_000);
  expect(await openSandbox(RULES, { path: fakeBwrap('exec sleep 60'), probeMs: 300 })).toEqual({
    problem: 'bwrap did not end within 300 ms',
  });
});

test('a folder that is not there is named', async () => {
  expect(await openSandbox({ ...RULES, readWrite: ['/no/such'] })).toEqual({
    problem: '/no/such does not exist',
  });
  expect(await openSandbox({ ...RULES, readOnly: ['/no/such'] })).toEqual({
    problem: '/no/such does not exist',
  });
});
