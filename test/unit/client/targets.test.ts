// Targets: the shared file, the choice among them, the command line of ssh.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { selectTarget, type TargetQuestion } from '../../../src/client/rex/select-target.js';
import { sshCommand } from '../../../src/client/rex/ssh-command.js';
import { assertAlias, parseTargets, TargetsError } from '../../../src/client/rex/target.js';

const read = (value: unknown) => parseTargets(JSON.stringify(value), 'targets.json');
const TARGETS = read({ targets: { a: { host: 'a.example' }, b: { host: 'b.example' } } }).targets;

function refusalOf(text: string): unknown {
  try {
    parseTargets(text, 'f');
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

describe('the file', () => {
  test('of another client is read whole, and what we do not know stays in it', () => {
    const file = {
      version: 1,
      targets: {
        'server-a': {
          transport: 'ssh',
          host: 'a.example',
          user: 'deploy',
          port: 2222,
          identityFile: '~/.ssh/id',
          sshOptions: ['-o', 'ProxyJump=gate'],
          command: '/usr/local/bin/rexd --stdio',
          workspaceRoots: ['/srv/app'],
          defaultCwd: '/srv/app',
          loginShell: true,
          capabilities: { shell: true, fs: true, pty: true },
          rootPolicy: { mode: 'strict', extraRoots: [] },
        },
      },
    };
    expect(read(file)).toEqual(file);
  });

  test.each([
    [{ targets: { a: {} } }, 'targets.a.host: is required (string)'],
    [{ targets: { a: { host: '-oProxyCommand=x' } } }, 'targets.a.host: must not begin with "-"'],
    [{ targets: { a: { host: 'h', port: 70_000 } } }, 'targets.a.port'],
    [{ targets: { local: { host: 'h' } } }, '"local" is this machine'],
    [{ targets: { 'a b': { host: 'h' } } }, 'is no name for a target'],
    [{ version: 2 }, 'version'],
  ])('%j is refused with the field', (value, message) => {
    expect(() => read(value)).toThrow(TargetsError);
    expect(() => read(value)).toThrow(message);
  });

  test('any text is read or refused with a TargetsError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(refusalOf(text)).toSatisfy((it) => it === undefined || it instanceof TargetsError);
      }),
    );
  });
});

describe('the choice', () => {
  const all: TargetQuestion = {
    targets: TARGETS,
    explicit: 'a',
    project: { alias: 'b', file: '/p/.rex.json' },
    prefixes: { '/srv': 'a', '/srv/b': 'b' },
    cwd: '/srv/b/c',
    carried: 'a',
  };
  const without = (...keys: (keyof TargetQuestion)[]): TargetQuestion => ({
    ...all,
    ...Object.fromEntries(keys.map((key) => [key, undefined])),
  });

  test.each([
    [all, 'a', 'it was named'],
    [without('explicit'), 'b', '/p/.rex.json says so'],
    [without('explicit', 'project'), 'b', '/srv/b belongs to it'],
    [{ ...without('explicit', 'project'), cwd: '/srv/bb' }, 'a', '/srv belongs to it'],
    [without('explicit', 'project', 'prefixes'), 'a', 'it was chosen with "rex target use"'],
    [without('explicit', 'project', 'prefixes', 'carried'), 'local', 'nothing else was said'],
  ])('is the first that answers, and says why (%#)', (question, alias, why) => {
    expect(selectTarget(question)).toMatchObject({ alias, why });
  });

  test('of a name nobody knows is refused, with those there are', () => {
    expect(() => selectTarget({ ...all, explicit: 'c' })).toThrow(/no target "c".*local, a, b/);
    expect(() => selectTarget({ ...all, explicit: 'constructor' })).toThrow('no target');
  });
});

describe('ssh', () => {
  test('is told what the target says, then our wishes, then where and what', () => {
    const target = {
      ...TARGETS['a'],
      host: 'a.example',
      user: 'u',
      port: 22,
      sshOptions: ['-o', 'BatchMode=no'],
    };
    expect(sshCommand(target as never, { controlFolder: '/run/rex' })).toEqual([
      'ssh', '-p', '22', '-o', 'BatchMode=no', '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=15',
      '-o', 'ControlMaster=auto', '-o', 'ControlPath=/run/rex/%C', '-o', 'ControlPersist=600',
      '-T', '--', 'u@a.example', '/usr/local/bin/rexd --stdio',
    ]); // biome-ignore format: one option a word
  });

  test('never takes a host for an option', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (host) => {
        let parsed: ReturnType<typeof read>;
        try {
          parsed = read({ targets: { a: { host } } });
        } catch {
          return;
        }
        const words = sshCommand(parsed.targets['a'] as never);
        expect(words[words.indexOf('--') + 1]).toBe(host);
        expect(host.startsWith('-')).toBe(false);
      }),
    );
  });
});

test('an alias is a plain word', () => {
  for (const good of ['a', 'server-a', 'db.prod', 'x_1']) assertAlias(good);
  for (const bad of ['', '-x', 'a b', 'a/b', 'local', 'x'.repeat(65)])
    expect(() => assertAlias(bad)).toThrow(TargetsError);
});
