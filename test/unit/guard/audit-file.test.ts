import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AuditLog } from '../../../src/guard/audit.js';
import { AuditFileError } from '../../../src/guard/audit-file.js';
import { removeFolder } from '../../helpers/remove-folder.js';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'audit-file-'));
  path = join(dir, 'audit.log');
});
afterEach(() => removeFolder(dir));

const text = (file = path): string => readFileSync(file, 'utf8');

describe('opening', () => {
  test('makes the file and the folders above it for us alone, whatever the umask', async () => {
    path = join(dir, 'a', 'b', 'audit.log');
    const umask = process.umask(0);
    try {
      await using audit = new AuditLog({ path });
      expect(audit.lost).toBe(0);
    } finally {
      process.umask(umask);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(dir, 'a')).mode & 0o777).toBe(0o700);
  });

  test('takes away from others what they had on a file of ours', async () => {
    writeFileSync(path, 'old\n');
    chmodSync(path, 0o666);
    await using audit = new AuditLog({ path });
    audit.record({ method: 'x' });
    await audit.flush();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(text()).toMatch(/^old\n\{.*\}\n$/);
  });

  test('does not follow a symbolic link', () => {
    writeFileSync(join(dir, 'victim'), 'precious');
    symlinkSync(join(dir, 'victim'), path);
    expect(() => new AuditLog({ path })).toThrow(AuditFileError);
    expect(() => new AuditLog({ path })).toThrow(`audit log ${path}: is a symbolic link`);
    expect(text(join(dir, 'victim'))).toBe('precious');
  });

  test('does not follow one that takes the place of the file later', async () => {
    const errors: Error[] = [];
    await using audit = new AuditLog({ path, onError: (error) => errors.push(error) });
    rmSync(path);
    writeFileSync(join(dir, 'victim'), 'precious');
    symlinkSync(join(dir, 'victim'), path);
    audit.record({ method: 'x' });
    await audit.flush().catch(() => {});
    expect(text(join(dir, 'victim'))).toBe('precious');
    expect(errors[0]?.message).toContain('is a symbolic link');
    rmSync(path);
    await audit.flush();
    expect(text()).toContain('"method":"x"');
  });

  test('refuses a file with a second name, which may be anything', () => {
    writeFileSync(join(dir, 'victim'), 'precious');
    linkSync(join(dir, 'victim'), path);
    expect(() => new AuditLog({ path })).toThrow('has a second name');
  });

  test.runIf(process.geteuid?.() === 0)('refuses a file of another user', () => {
    writeFileSync(path, '');
    chownSync(path, 65_534, 65_534);
    expect(() => new AuditLog({ path })).toThrow('belongs to another user');
  });

  test('refuses a folder, and a path through a file', () => {
    mkdirSync(path);
    expect(() => new AuditLog({ path })).toThrow('cannot be opened (EISDIR)');
    writeFileSync(join(dir, 'file'), '');
    expect(() => new AuditLog({ path: join(dir, 'file', 'audit.log') })).toThrow(
      'cannot be opened (ENOTDIR)',
    );
  });

  test('leaves no descriptor behind when it refuses', () => {
    writeFileSync(join(dir, 'victim'), '');
    linkSync(join(dir, 'victim'), path);
    const before = statSync('/proc/self/fd').size;
    for (let i = 0; i < 50; i++) expect(() => new AuditLog({ path })).toThrow('second name');
    expect(statSync('/proc/self/fd').size).toBeLessThanOrEqual(before + 5);
  });
});

describe('a line that was cut off by a crash', () => {
  test('is left alone, and the next one starts on a line of its own', async () => {
    writeFileSync(path, '{"whole":1}\n{"cut":');
    await using audit = new AuditLog({ path });
    audit.record({ method: 'after' });
    await audit.flush();
    const lines = text().split('\n');
    expect(lines.slice(0, 2)).toEqual(['{"whole":1}', '{"cut":']);
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ method: 'after' });
    expect(lines).toHaveLength(4);
  });

  test('by another process, while this one has the file open, does not spoil a line of ours', async () => {
    await using audit = new AuditLog({ path });
    audit.record({ method: 'before' });
    await audit.flush();
    writeFileSync(path, '{"cut":', { flag: 'a' });
    audit.record({ method: 'after' });
    audit.flushSync();
    const lines = text().trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ method: 'after' });
  });
});

describe('the lock of a rotation', () => {
  test('held by another process is respected: this one goes on with the file there is', async () => {
    await using audit = new AuditLog({ path, maxBytes: 100 });
    writeFileSync(`${path}.lock`, '');
    const later = Date.now() / 1000 + 3600; // held all the while, however long that is
    utimesSync(`${path}.lock`, later, later);
    for (let i = 0; i < 10; i++) {
      audit.record({ method: 'x' });
      await audit.flush();
    }
    expect(text().trimEnd().split('\n')).toHaveLength(10);
    expect(existsSync(`${path}.1`)).toBe(false);
  });

  test('left by a process that died is taken away', async () => {
    await using audit = new AuditLog({ path, maxBytes: 100 });
    writeFileSync(`${path}.lock`, '');
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(`${path}.lock`, longAgo, longAgo);
    for (let i = 0; i < 4; i++) {
      audit.record({ method: 'x' });
      await audit.flush();
    }
    expect(existsSync(`${path}.1`)).toBe(true);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});
