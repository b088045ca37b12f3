import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  closeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ForbiddenPathError,
  LinkLoopError,
  NotADirectoryError,
  NotFoundError,
} from '../../../../src/host/files/errors.js';
import { type FilesError, InvalidPathError } from '../../../../src/host/files/path-errors.js';
import { isGone, mountIdOf, realPathOf } from '../../../../src/host/files/pin.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { MAX_LINKS, MAX_STEPS, pin, pinDirectory } from '../../../../src/host/files/walk.js';
import { makeSandbox, run } from './sandbox.js';

function realOf(set: RootSet, path: string): string {
  using held = pin(set, path);
  return held.real;
}

describe('what is outside', () => {
  test.each([
    ['a path elsewhere', '/etc/passwd'],
    ['a path elsewhere that does not exist', '/etc/no-such-file'],
    ['the file system root', '/'],
    ['a first name that does not exist', '/no-such-directory/x'],
    ['/proc/self/root', '/proc/self/root/etc/passwd'],
    ['a descriptor of our own', '/proc/self/fd/0'],
    ['a device', '/dev/zero'],
  ])('%s is forbidden', (_, path) => {
    using box = makeSandbox();
    expect(() => pin(box.set, path)).toThrow(ForbiddenPathError);
  });

  test('a sibling whose name begins with that of the root is forbidden', () => {
    using box = makeSandbox();
    mkdirSync(`${box.root}2`);
    expect(() => pin(box.set, `${box.root}2`)).toThrow(ForbiddenPathError);
    expect(() => pin(box.set, `${box.root}2/x`)).toThrow(ForbiddenPathError);
  });

  test('a link out is forbidden, whatever it leads to and however it is spelled', () => {
    using box = makeSandbox();
    const targets = {
      file: join(box.outside, 'secret.txt'),
      directory: box.outside,
      relative: '../outside/secret.txt',
      missing: join(box.outside, 'missing'),
      missingDirectory: join(box.outside, 'missing', 'x'),
      top: '/',
      proc: '/proc/self/root',
      loop: join(box.outside, 'loop'),
    };
    symlinkSync(join(box.outside, 'loop'), join(box.outside, 'loop'));
    for (const [name, target] of Object.entries(targets)) symlinkSync(target, box.at(name));
    const outcomes = Object.keys(targets).map((name) => attempt(() => realOf(box.set, box.at(name))));
    expect(new Set(outcomes)).toEqual(new Set(['ForbiddenPathError']));
    expect(attempt(() => realOf(box.set, box.at('directory/secret.txt')))).toBe('ForbiddenPathError');
    expect(attempt(() => realOf(box.set, box.at('directory/missing')))).toBe('ForbiddenPathError');
  });

  test('the error names the path that was asked for and the roots, not where it leads', () => {
    using box = makeSandbox();
    symlinkSync(join(box.outside, 'secret.txt'), box.at('link'));
    const error = thrown(() => realOf(box.set, box.at('link'))) as ForbiddenPathError;
    expect(error).toMatchObject({ path: box.at('link'), allowedRoots: [box.root], reason: 'outside' });
    expect(JSON.stringify(error) + error.message).not.toContain('outside/');
  });
});

describe('what is inside', () => {
  test('links that stay inside are followed, in any spelling', () => {
    using box = makeSandbox();
    box.file('a/b/file');
    symlinkSync('a/b', box.at('relative'));
    symlinkSync(box.at('a'), box.at('absolute'));
    symlinkSync('../../relative/../b/file', box.at('a/b/dotted'));
    symlinkSync(`/proc/self/root${box.root}/a`, box.at('proc'));
    for (const path of [
      'relative/file',
      'absolute/b/file',
      'a/b/dotted',
      'proc/b/file',
      'a/../a//b/./file',
    ]) {
      expect(realOf(box.set, `${box.root}/${path}`)).toBe(box.at('a/b/file'));
    }
  });

  test('a root reached by way of links outside is still a root', () => {
    using box = makeSandbox();
    box.file('file');
    symlinkSync('root', join(box.base, 'alias'));
    expect(realOf(box.set, join(box.base, 'alias', 'file'))).toBe(box.at('file'));
  });

  test('a missing name is not found, a file used as a directory is said to be none', () => {
    using box = makeSandbox();
    box.file('file');
    expect(() => pin(box.set, box.at('missing'))).toThrow(NotFoundError);
    expect(() => pin(box.set, box.at('missing/below'))).toThrow(NotFoundError);
    expect(() => pin(box.set, box.at('file/below'))).toThrow(NotADirectoryError);
    expect(() => pinDirectory(box.set, box.at('file'))).toThrow(NotADirectoryError);
    expect(() => pin(box.set, box.at('x'.repeat(256)))).toThrow(InvalidPathError);
  });

  test('a root that was removed is not found', () => {
    using box = makeSandbox();
    rmdirSync(box.root);
    expect(() => pin(box.set, box.root)).toThrow(NotFoundError);
    mkdirSync(box.root);
    expect(realOf(box.set, box.root)).toBe(box.root);
  });

  test('a root replaced by a link out is forbidden', () => {
    using box = makeSandbox();
    renameSync(box.root, join(box.base, 'away'));
    symlinkSync(box.outside, box.root);
    expect(() => pin(box.set, box.at('secret.txt'))).toThrow(ForbiddenPathError);
  });

  test(`${MAX_LINKS} links are followed, one more is a loop`, () => {
    using box = makeSandbox();
    box.file('l0');
    for (let i = 1; i <= MAX_LINKS + 1; i++) symlinkSync(`l${i - 1}`, box.at(`l${i}`));
    expect(realOf(box.set, box.at(`l${MAX_LINKS}`))).toBe(box.at('l0'));
    expect(() => pin(box.set, box.at(`l${MAX_LINKS + 1}`))).toThrow(LinkLoopError);
  });

  test(`more than ${MAX_STEPS} names are not walked`, () => {
    using box = makeSandbox();
    mkdirSync(box.at('a'));
    const around = 'a/../'.repeat(500);
    for (let i = 0; i < 10; i++) symlinkSync(`${around}l${i + 1}`, box.at(`l${i}`));
    box.file('l10');
    expect(realOf(box.set, box.at('l0'))).toBe(box.at('l10')); // by the kernel, which is quick
    unlinkSync(box.at('l10'));
    expect(() => pin(box.set, box.at('l0'))).toThrow(LinkLoopError);
    expect(() => pin(box.set, box.at('l8'))).toThrow(NotFoundError);
  });

  test('with / as the root everything that is a path is inside', () => {
    using box = makeSandbox();
    const set = new RootSet(['/']);
    expect(realOf(set, join(box.outside, 'secret.txt'))).toBe(join(box.outside, 'secret.txt'));
    expect(realOf(set, '/')).toBe('/');
    expect(realOf(set, '/proc/self/root')).toBe('/');
  });
});

describe('pins', () => {
  test('stay where they are when the path is swapped under them', () => {
    using box = makeSandbox();
    box.file('dir/secret.txt', 'inside');
    using held = pinDirectory(box.set, box.at('dir'));
    renameSync(box.at('dir'), box.at('elsewhere'));
    symlinkSync(join(box.outside, 'dir'), box.at('dir'));
    expect(readFileSync(held.at('secret.txt'), 'utf8')).toBe('inside');
  });

  test('a removed file is told from one that is called so', () => {
    using box = makeSandbox();
    const odd = openSync(box.file('x (deleted)'), 'r');
    const gone = openSync(box.file('gone'), 'r');
    unlinkSync(box.at('gone'));
    expect(isGone(odd, realPathOf(odd, ''))).toBe(false);
    expect(isGone(gone, realPathOf(gone, ''))).toBe(true);
    expect(realOf(box.set, box.at('x (deleted)'))).toBe(box.at('x (deleted)'));
    closeSync(odd);
    closeSync(gone);
  });

  test('missing parents are made step by step, and never outside', () => {
    using box = makeSandbox();
    const create = { made: 0 };
    using held = pinDirectory(box.set, box.at('a/b/c'), { create });
    expect(held.real).toBe(box.at('a/b/c'));
    expect(create.made).toBe(3);
    symlinkSync(join(box.outside, 'new'), box.at('out'));
    symlinkSync('made/by/link', box.at('in'));
    expect(() => pinDirectory(box.set, box.at('out/x'), { create })).toThrow(ForbiddenPathError);
    using made = pinDirectory(box.set, box.at('in/x'), { create });
    expect(made.real).toBe(box.at('made/by/link/x'));
  });
});

test('a mount namespace in which the outside is mounted over the root opens no way out', async (context) => {
  using box = makeSandbox();
  box.file('plain', 'inside');
  const script = `mount --bind "$1" "$2" && echo ready && exec cat`;
  const child = spawn('env', ['unshare', '--mount', 'sh', '-c', script, 'sh', box.outside, box.root], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  const started = await Promise.race([once(child.stdout, 'data').then(() => true), exited.then(() => false)]);
  if (!started) context.skip('no right to make a mount namespace here');
  try {
    symlinkSync(`/proc/${child.pid}/root${box.root}`, box.at('door'));
    // The kernel itself walks through the door, and calls what is behind it a path inside the root.
    const fd = openSync(box.at('door/secret.txt'), 'r');
    expect(realPathOf(fd, '')).toBe(box.at('secret.txt'));
    expect(mountIdOf(fd)).not.toBe(undefined);
    closeSync(fd);
    for (let i = 0; i < 2; i++) {
      expect(() => pin(box.set, box.at('door/secret.txt'))).toThrow(NotFoundError);
      expect(realOf(box.set, box.at('door/plain'))).toBe(box.at('plain'));
    }
    using held = pin(box.set, box.at('door/plain'));
    expect(readFileSync(held.here, 'utf8')).toBe('inside');
    writeFileSync(box.at('plain'), '');
  } finally {
    child.stdin.end();
    await exited;
    unlinkSync(box.at('door'));
  }
});

test('a directory mounted inside a root belongs to it', (context) => {
  using box = makeSandbox();
  mkdirSync(box.at('mounted'));
  if (run('mount', '--bind', join(box.outside, 'dir'), box.at('mounted')) !== 0) {
    context.skip('no right to mount here');
  }
  try {
    expect(realOf(box.set, box.at('mounted/secret.txt'))).toBe(box.at('mounted/secret.txt'));
    expect(realOf(box.set, box.at('mounted/secret.txt'))).toBe(box.at('mounted/secret.txt'));
  } finally {
    run('umount', box.at('mounted'));
  }
});

function thrown(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

function attempt(action: () => unknown): string {
  return (thrown(action) as FilesError).name;
}
