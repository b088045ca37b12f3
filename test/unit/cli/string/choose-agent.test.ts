// Which agent a call of `string` is for.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chooseAgent, MAX_PARENTS } from '../../../../src/cli/string/choose-agent.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-agent-')));
});
afterEach(() => removeFolder(base));

const write = (file: string, content: unknown): string => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
};
const choose = (env: Record<string, string> = {}, flag?: string, cwd = join(base, 'home/project/deep')) => {
  mkdirSync(cwd, { recursive: true });
  return chooseAgent({ HOME: join(base, 'home'), ...env }, { root: join(base, 'root'), cwd, flag });
};

test('flag, environment, project, user, default: the first that says so', () => {
  const users = join(base, 'root/config.json');
  expect(choose()).toEqual({ id: 'default', file: users });
  write(users, { currentAgent: 'users' });
  expect(choose()).toEqual({ id: 'users', file: users });
  const project = write(join(base, 'home/project/.string/config.json'), { currentAgent: 'project', more: 1 });
  expect(choose()).toEqual({ id: 'project', file: project });
  expect(choose({ STRING_AGENT_ID: 'env' }).id).toBe('env');
  expect(choose({ STRING_AGENT_ID: ' ' }).id).toBe('project');
  expect(choose({ STRING_AGENT_ID: 'env' }, 'flag').id).toBe('flag');
});

test('a name that no agent can have is told of, by whoever gave it', () => {
  expect(() => choose({}, '../x')).toThrow('--agent "../x": expected 1 to 64 letters');
  expect(() => choose({ STRING_AGENT_ID: 'a b' })).toThrow('STRING_AGENT_ID="a b": expected');
  expect(choose({ STRING_AGENT_ID: 'a b' }, 'flag').id).toBe('flag');
  const file = write(join(base, 'home/project/.string/config.json'), { currentAgent: '..' });
  expect(() => choose()).toThrow(`${file} names the agent "..": expected`);
});

test('whoever has no home has projects all the same', () => {
  write(join(base, 'home/project/.string/config.json'), { currentAgent: 'project' });
  expect(choose({ HOME: undefined as never }).id).toBe('project');
});

test('STRING_CONFIG names the file; the one in the home does not count when everything is elsewhere', () => {
  write(join(base, 'home/.string/config.json'), { currentAgent: 'home' });
  expect(choose().id).toBe('default');
  const named = write(join(base, 'named.json'), { currentAgent: 'named' });
  expect(choose({ STRING_CONFIG: named })).toEqual({ id: 'named', file: named });
});

test('a file that STRING_CONFIG names must be there, unless the agent is said otherwise', () => {
  const none = join(base, 'none.json');
  write(join(base, 'root/config.json'), { currentAgent: 'users' });
  expect(() => choose({ STRING_CONFIG: none })).toThrow(
    `${none}, which STRING_CONFIG names, cannot be read: ENOENT`,
  );
  expect(choose({ STRING_CONFIG: none }, 'flag')).toEqual({ id: 'flag', file: none });
  expect(choose({ STRING_CONFIG: none, STRING_AGENT_ID: 'env' }).id).toBe('env');
});

test('only regular files are read: a pipe would keep us waiting for ever', () => {
  const pipe = join(base, 'home/project/.string/config.json');
  mkdirSync(dirname(pipe), { recursive: true });
  execFileSync('mkfifo', [pipe]);
  expect(() => choose()).toThrow(`${pipe} cannot be read: it is not a regular file`);
  expect(() => choose({ STRING_CONFIG: pipe })).toThrow('it is not a regular file');
});

test.skipIf(process.getuid?.() === 0)('a file that is there and closed to us is told of', () => {
  const file = write(join(base, 'home/project/.string/config.json'), { currentAgent: 'project' });
  chmodSync(file, 0);
  expect(() => choose()).toThrow(`${file} cannot be read: EACCES`);
  expect(() => choose({ STRING_CONFIG: file })).toThrow('EACCES');
  chmodSync(dirname(file), 0);
  expect(choose().id).toBe('default');
  chmodSync(dirname(file), 0o700);
});

test('a file that is there and is no JSON is told of, not passed over', () => {
  const file = write(join(base, 'home/project/.string/config.json'), '{"currentAgent"');
  expect(() => choose()).toThrow(`${file} is not valid JSON`);
});

test('so many folders are looked at and no more', () => {
  write(join(base, 'home/.string-not/config.json'), '');
  write(join(base, 'project/.string/config.json'), { currentAgent: 'far' });
  const below = (folders: number): string =>
    join(base, 'project', ...Array.from({ length: folders }, () => 'd'));
  expect(choose({}, undefined, below(MAX_PARENTS - 1)).id).toBe('far');
  expect(choose({}, undefined, below(MAX_PARENTS)).id).toBe('default');
});
