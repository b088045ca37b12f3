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
      '-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=3', '-o', 'RemoteCommand=none',
      '-o', 'ClearAllForwardings=yes', '-o', 'LogLevel=INFO',
      '-o', 'ControlMaster=auto', '-o', 'ControlPath=/run/rex/%C-f34d8d5f', '-o', 'ControlPersist=600',
      '-T', '--', 'u@a.example', '/usr/local/bin/rexd --stdio',
    ]); // biome-ignore format: one option a word
  });

  test('shares no connection between two ways to the same address', () => {
    const path = (sshOptions: string[]): string | undefined =>
      sshCommand({ ...TARGETS['a'], host: '10.0.0.5', sshOptions } as never, {
        controlFolder: '/run/rex',
      }).find((word) => word.startsWith('ControlPath='));
    expect(path(['-J', 'gate-a'])).not.toBe(path(['-J', 'gate-b']));
    expect(path(['-J', 'gate-a'])).toBe(path(['-J', 'gate-a']));
  });

  test('shares nothing when told so, and leaves it to the configuration when nothing was said', () => {
    const control = (controlFolder?: false): string[] =>
      sshCommand({ ...TARGETS['a'], host: 'h' } as never, { controlFolder }).filter((word) =>
        word.startsWith('Control'),
      );
    expect(control(false)).toEqual(['ControlMaster=no', 'ControlPath=none']);
    expect(control()).toEqual([]);
  });

  test.each(['-oProxyCommand=touch x', '$(touch x)', 'a b', 'h;id', '`id`', 'h\nx', "h'", 'h\\', 'a|b'])(
    'refuses the host %j, and the user',
    (name) => {
      expect(() => read({ targets: { a: { host: name } } })).toThrow(TargetsError);
      expect(() => read({ targets: { a: { host: 'h', user: name } } })).toThrow(TargetsError);
    },
  );

  test.each(['me@h', '::1', '[fe80::1%eth0]', 'ssh://me@h:22', 'a_b.example'])(
    'takes the host %j',
    (host) => {
      expect(read({ targets: { a: { host, user: 'DOM\\me' } } }).targets['a']?.host).toBe(host);
    },
  );

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
