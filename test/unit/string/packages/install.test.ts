import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  isFitPath,
  MAX_PACKAGE_BYTES,
  MAX_PACKAGE_FILES,
  MAX_PACKAGE_PATH_CHARS,
  PackageFiles,
} from '../../../../src/string/packages/package-files.js';
import { MAX_TOOLS_SEARCHED } from '../../../../src/string/packages/find-tool.js';
import { removeFolder } from '../../../helpers/remove-folder.js';
import { fence, makeActPlace, startEcho } from '../actions/act-place.js';

const APP = (name = 'peek', more = '') =>
  `---\nname: ${name}\nnamespace: samples\ntype: app\nversion: 0.1.0\n---\n# ${name}\n${more}`;
const config = (home: string) =>
  JSON.parse(readFileSync(join(home, 'config.json'), 'utf8')) as Record<string, Record<string, never>>;

describe('/install', () => {
  test('a folder, with what is in it, may be run, and stays when it goes', async () => {
    await using place = makeActPlace();
    place.file('src/peek/string.md', APP('peek', fence('hi', 'CLI ./bin/hi.sh')));
    place.file('src/peek/bin/hi.sh', '#!/bin/sh\necho hi from "$(pwd)"\n');
    place.file('src/peek/.git/config', 'secret');
    chmodSync(join(place.home, 'src/peek/bin/hi.sh'), 0o755);
    const folder = join(place.home, 'packages', 'peek');
    expect(await place.act('/install ~/src/peek')).toMatchObject({
      ok: true,
      content: `Installed app:peek\n  Source: ${join(place.home, 'src/peek')}\n  Path: ${folder}\nUse: /open app:peek`,
    });
    expect(existsSync(join(folder, '.git'))).toBe(false);
    expect(statSync(join(folder, 'bin/hi.sh')).mode & 0o777).toBe(0o700);
    expect(statSync(join(place.home, 'config.json')).mode & 0o777).toBe(0o600);
    expect((await place.run('app:peek', '/act.hi')).content).toBe(`hi from ${folder}`);
    expect((await place.run('app', '/open')).content).toContain('peek  file://');
  });

  test('what it does not understand it does not guess: nothing is installed', async () => {
    await using place = makeActPlace();
    place.file('src/peek/string.md', APP('peek'));
    await place.act('/open ~/src/peek/string.md');
    for (const words of [
      '~/src/peek --dryrun',
      '--zork ~/src/peek',
      '-x ~/src/peek',
      '~/src/peek --as',
      '~/src/peek other',
    ])
      expect([words, await place.act(`/install ${words}`)]).toEqual([
        words,
        expect.objectContaining({ code: 'INVALID_PAYLOAD', content: expect.stringContaining('/install [') }),
      ]);
    expect((await place.act('/install --help')).content).toContain('Usage: /install [');
    expect(existsSync(join(place.home, 'packages'))).toBe(false);
  });

  test('a file with those beside it, under another name; what it is not says so', async () => {
    await using place = makeActPlace();
    place.file('d/gitpeek.md', '# no frontmatter');
    place.file('d/tsv.mjs', '// helper');
    expect(await place.act('/install ~/d/gitpeek.md')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect((await place.act('/install ~/d/gitpeek.md')).content).toMatch(
      /^Cannot determine package type for "gitpeek"/u,
    );
    expect((await place.act('/install --app ~/d/gitpeek.md --as "my app!"')).content).toMatch(
      /^Installed app:my-app\n/u,
    );
    expect(readFileSync(join(place.home, 'packages/my-app/tsv.mjs'), 'utf8')).toBe('// helper');
    expect(await place.act('/install ~/d/tsv.mjs --app')).toMatchObject({ code: 'INVALID_TARGET' });
    expect(await place.act('/install ~/d/none.md --app')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.act('/install /etc --app')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    expect(await place.act('/install --app --as "!!" ~/d/gitpeek.md')).toMatchObject({
      content: 'Invalid package name',
    });
    expect(await place.act('/install')).toMatchObject({
      code: 'COMMAND_UNSUPPORTED',
      content: 'No source specified and no document is open.',
    });
  });

  test('of a document right in the home, nothing that is the home itself', async () => {
    await using place = makeActPlace();
    place.file('peek.md', APP());
    place.file('tsv.mjs', '');
    place.file('config.json', '{"mine":{"kept":true}}');
    place.file('private/secret.txt', 'x');
    await place.act('/open ~/peek.md');
    expect((await place.act('/install')).ok).toBe(true);
    const folder = join(place.home, 'packages/peek');
    expect(existsSync(join(folder, 'tsv.mjs'))).toBe(true);
    expect(existsSync(join(folder, 'config.json'))).toBe(false);
    expect(existsSync(join(folder, 'private'))).toBe(false);
    expect(config(place.home)).toMatchObject({
      mine: { kept: true },
      packageMeta: { peek: { namespace: 'samples', version: '0.1.0', kind: 'app' } },
    });
  });

  test('links are refused, and the old copy stays', async () => {
    await using place = makeActPlace();
    place.file('p/string.md', APP('peek', 'one'));
    await place.act('/install ~/p');
    place.file('p/string.md', APP('peek', 'two'));
    symlinkSync('/etc/passwd', join(place.home, 'p/link'));
    expect(await place.act('/install ~/p')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    expect(readFileSync(join(place.home, 'packages/peek/string.md'), 'utf8')).toContain('one');
  });

  test('the same package is upgraded, another of its name is refused', async () => {
    await using place = makeActPlace();
    place.file('p/string.md', APP('peek', 'one'));
    place.file('p/old.txt', '');
    place.file('q/string.md', APP('peek', 'two'));
    place.file('r/string.md', APP('peek').replace('samples', 'others'));
    await place.act('/install ~/p');
    expect((await place.act('/install ~/q')).ok).toBe(true);
    expect(existsSync(join(place.home, 'packages/peek/old.txt'))).toBe(false);
    const other = await place.act('/install ~/r');
    expect(other).toMatchObject({ code: 'CONFLICT' });
    expect(other.content).toMatch(/--as NAME.*\/uninstall peek/u);
    expect((await place.act('/install ~/r --as peek2')).ok).toBe(true);
  });

  test('--dry-run tells what it could do, and installs nothing', async () => {
    await using place = makeActPlace();
    place.file(
      'p/string.md',
      APP('peek', fence('a', 'CLI rm -rf {x}') + fence('b', 'POST https://example.org/x')).replace(
        'type: app',
        'type: app\nrequires: [TOKEN]\ndefault: a',
      ),
    );
    place.file('p/run.py', '');
    const { content } = await place.act('/install ~/p --dry-run');
    expect(content).toMatch(/^Would install app:peek\n---\n/u);
    for (const line of [
      'a: rm -rf {x}',
      'b: POST https://example.org/x',
      'Runs when it is opened: a',
      'Asks for: $TOKEN',
      'run.py',
      'sha256: ',
    ])
      expect(content).toContain(line);
    expect(existsSync(join(place.home, 'packages'))).toBe(false);
    expect(existsSync(join(place.home, 'config.json'))).toBe(false);
  });

  test('what has changed since it was installed runs no commands', async () => {
    await using place = makeActPlace();
    place.file('p/string.md', APP('peek', fence('x', 'CLI node ./tsv.mjs') + fence('y', 'CLI echo y')));
    place.file('p/tsv.mjs', 'console.log("first")');
    await place.act('/install ~/p');
    expect((await place.run('app:peek', '/act.x')).content).toBe('first');
    place.file('packages/peek/tsv.mjs', 'console.log("second")');
    for (const cmd of ['/act.x', '/act.y'])
      expect(await place.run('app:peek', cmd), cmd).toMatchObject({ code: 'POLICY_DENIED' });
    expect((await place.act('/install ~/packages/peek')).ok).toBe(true);
    expect((await place.run('app:peek', '/act.x')).content).toBe('second');
  });

  test('a file that no command names may be loaded by one that does: it counts too, records do not', async () => {
    await using place = makeActPlace();
    place.file('p/string.md', APP('peek', fence('x', 'CLI node ./main.mjs')));
    place.file('p/main.mjs', 'import("./lib/part.mjs")');
    place.file('p/lib/part.mjs', 'console.log("first")');
    place.file('p/notes.csv', 'a,b');
    await place.act('/install ~/p');
    place.file('packages/peek/notes.csv', 'a,b,c');
    for (let n = 0; n < 2; n++) expect((await place.run('app:peek', '/act.x')).content).toBe('first');
    place.file('packages/peek/lib/part.mjs', 'console.log("other")');
    const refused = await place.run('app:peek', '/act.x');
    expect(refused).toMatchObject({ code: 'POLICY_DENIED' });
    expect(refused.content).toContain('lib/part.mjs has changed');
    place.file('packages/peek/lib/part.mjs', 'console.log("first")');
    expect((await place.run('app:peek', '/act.x')).content).toBe('first');
    rmSync(join(place.home, 'packages/peek/main.mjs'));
    expect((await place.run('app:peek', '/act.x')).content).toContain('main.mjs has changed');
  });

  test('from the web: a document, a manifest with its files, one that lies, one that leads out', async () => {
    await using place = makeActPlace();
    const manifests: Record<string, unknown> = {
      '/m.json': {
        files: [
          { path: 'string.md', content: APP('web') },
          { path: 'sub/a.txt', url: 'a.txt', sha256: '' },
        ],
      },
      '/none.json': { files: [{ path: 'other.md', content: '' }] },
      '/out.json': {
        files: [
          { path: 'string.md', content: APP() },
          { path: '../x', content: '' },
        ],
      },
      '/link.json': { files: [{ path: 'string.md', content: APP('linked') }], delivery: 'link' },
    };
    await using echo = await startEcho(({ path }, response) => {
      if (path === '/one.md') response.end(APP('one'));
      else if (path === '/a.txt') response.end('text');
      else if (path in manifests) response.end(JSON.stringify(manifests[path]));
      else response.writeHead(404).end();
      return true;
    });
    expect((await place.act(`/install ${echo.url}/one.md`)).content).toMatch(/^Installed app:one\n/u);
    const lies = await place.act(`/install ${echo.url}/m.json`);
    expect(lies).toMatchObject({ code: 'LOAD_ERROR' });
    expect(lies.content).toMatch(/is not what the manifest says/u);
    expect(existsSync(join(place.home, 'packages/web'))).toBe(false);
    manifests['/m.json'] = {
      files: [
        { path: 'string.md', content: APP('web') },
        { path: 'sub/a.txt', url: 'a.txt' },
      ],
    };
    expect((await place.act(`/install ${echo.url}/m.json`)).ok).toBe(true);
    expect(readFileSync(join(place.home, 'packages/web/sub/a.txt'), 'utf8')).toBe('text');
    expect((await place.act(`/install ${echo.url}/none.json`)).content).toMatch(
      /no string\.md\nfiles: other\.md/u,
    );
    expect(await place.act(`/install ${echo.url}/out.json`)).toMatchObject({ code: 'LOAD_ERROR' });
    expect(await place.act(`/install ${echo.url}/gone.md`)).toMatchObject({ code: 'NOT_FOUND' });
    expect((await place.act(`/install ${echo.url}/link.json`)).content).toMatch(/^Linked app:linked\n/u);
    expect((await place.act(`/install ${echo.url}/one.md --link --as other`)).content).toMatch(
      /^Linked app:other\n/u,
    );
    expect(config(place.home)['apps']).toMatchObject({ other: `${echo.url}/one.md` });
    expect(await place.act('/install ~/x --link --app')).toMatchObject({ ok: false });
  });
});

describe('/uninstall', () => {
  test('removes it, closes its topics, keeps what was set for it', async () => {
    await using place = makeActPlace();
    place.file('p/string.md', APP('peek', fence('x', 'CLI echo $KEY')));
    await place.act('/install ~/p');
    await place.run('app:peek', '/set $KEY = "value"');
    await place.run('app:peek', '/act.x');
    const { ok, content } = await place.act('/uninstall peek');
    expect({ ok, content }).toEqual({ ok: true, content: 'Uninstalled app:peek\n  Closed: app:peek' });
    expect(existsSync(join(place.home, 'packages/peek'))).toBe(false);
    expect(existsSync(join(place.home, 'apps/peek/env.json'))).toBe(true);
    expect(await place.act('/uninstall peek')).toMatchObject({
      code: 'NOT_FOUND',
      content: 'Package not found: peek',
    });
  });
});

describe('limits', () => {
  test('paths of a package', () => {
    for (const path of ['a', 'a/b.c', '.hidden', 'ä b']) expect(isFitPath(path), path).toBe(true);
    for (const path of [
      '',
      '/a',
      'a/',
      '../a',
      'a/../b',
      'a//b',
      './a',
      'a\0',
      'a\\b',
      'x'.repeat(MAX_PACKAGE_PATH_CHARS + 1),
    ])
      expect(isFitPath(path), path).toBe(false);
  });

  test('MAX_PACKAGE_FILES and MAX_PACKAGE_BYTES', () => {
    const files = new PackageFiles();
    const file = { data: Buffer.alloc(0), executable: false };
    for (let n = 0; n < MAX_PACKAGE_FILES; n++) files.add(`f${n}`, file);
    expect(() => files.add('more', file)).toThrow(/more than 500 files/u);
    const large = new PackageFiles();
    large.add('a', { data: Buffer.alloc(MAX_PACKAGE_BYTES), executable: false });
    expect(() => large.add('b', { data: Buffer.alloc(1), executable: false })).toThrow(/bytes/u);
  });
});

describe('/tool', () => {
  const TOOL = (more: string) => `---\ntype: tool\nname: hello\ndefault: say\n---\n${more}`;

  test('the default, an action, one that is not there', async () => {
    await using place = makeActPlace();
    place.file(
      'tools/hello.md',
      TOOL(fence('say', `CLI printf 'hi %s' {who}`, '  who: string = "you"') + fence('where', 'CLI pwd')),
    );
    expect((await place.act('/tool:hello')).content).toBe('hi you');
    expect((await place.act('/tool:hello me')).content).toBe('hi me');
    expect((await place.act('/tool:hello.where')).content).toBe(join(place.home, 'tools'));
    expect((await place.act('/tool:hello --help')).content).toBe(
      'Action: say\n---\n   --who <string> (optional)',
    );
    expect(await place.act('/tool:hello.nope')).toMatchObject({ code: 'NOT_FOUND' });
    expect(await place.act('/tool:nobody')).toMatchObject({ code: 'NOT_FOUND' });
    expect((await place.act('/tool:nobody')).content).toMatch(/^Tool not found: nobody/u);
    expect((await place.run('app', '/tool:hello')).content).toBe('hi you');
  });

  test('what is passed through is words, never a command', async () => {
    await using place = makeActPlace();
    place.file('tools/args.md', '---\ndefault: run\n---\n' + fence('run', `CLI printf '[%s]' $ARGS`));
    expect(
      (await place.act(`/tool:args status; touch pwned && echo '$(id)' --short -n 5 -- "a b"`)).content,
    ).toBe('[status;][touch][pwned][&&][echo][$(id)][--short][-n][5][--][a b]');
    expect((await place.act('/tool:args --dry-run a "b c"')).content).toContain(`printf '[%s]' a 'b c'`);
    expect((await place.act('/tool:args push --dry-run')).content).toBe('[push][--dry-run]');
    expect(existsSync(join(place.home, 'pwned'))).toBe(false);
  });

  test('by the name it gives itself, of the machine, installed', async () => {
    const toolsDir = mkdtempSync(join(tmpdir(), 'tools-'));
    await using place = makeActPlace({ toolsDir });
    writeFileSync(
      join(toolsDir, 'shared.md'),
      '---\ndefault: x\nname: of-all\n---\n' + fence('x', 'CLI echo shared'),
    );
    expect((await place.act('/tool:shared')).content).toBe('shared');
    expect((await place.act('/tool:of-all')).content).toBe('shared');
    removeFolder(toolsDir);
    place.file('tools/file.md', TOOL(fence('say', 'CLI echo named')));
    expect((await place.act('/tool:hello')).content).toBe('named');
    place.file(
      'p/string.md',
      '---\nname: inst\ntype: tool\ndefault: x\n---\n' + fence('x', 'CLI echo installed'),
    );
    expect((await place.act('/install ~/p')).content).toMatch(/Use: \/tool:inst$/u);
    expect((await place.act('/tool:inst')).content).toBe('installed');
    place.file('tools/none.md', fence('a', 'CLI true'));
    expect(await place.act('/tool:none')).toMatchObject({
      code: 'INVALID_PAYLOAD',
      content: 'No default action for tool:none. Available: a',
    });
  });

  test('only MAX_TOOLS_SEARCHED files are looked into for a name', async () => {
    await using place = makeActPlace();
    const named = (n: number) =>
      place.file(
        `tools/${String(n).padStart(5, '0')}.md`,
        `---\nname: t${n}\ndefault: x\n---\n${fence('x', 'CLI echo found')}`,
      );
    for (let n = 0; n <= MAX_TOOLS_SEARCHED; n++) named(n);
    expect((await place.act(`/tool:t${MAX_TOOLS_SEARCHED - 1}`)).content).toBe('found');
    expect(await place.act(`/tool:t${MAX_TOOLS_SEARCHED}`)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('what it needs is asked for first', async () => {
    await using place = makeActPlace();
    place.file(
      'tools/key.md',
      '---\ndefault: x\nenv:\n  - KEY: "the key"\n  - OTHER: "has one"\n    default: dflt\n---\n' +
        fence('x', 'CLI echo "$KEY/$OTHER"'),
    );
    const without = await place.act('/tool:key');
    expect(without).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(without.content).toMatch(/^ERROR\(ENV_REQUIRED\): tool requires \$KEY — "the key"/u);
    await place.run('app:any', '/set $KEY = "value"');
    expect((await place.run('app:any', '/tool:key')).content).toBe('value/dflt');
  });
});

test('a name in config.json that leads elsewhere is no package, and nothing is removed', async () => {
  await using place = makeActPlace();
  const kept = place.file('notes/kept.md', 'kept');
  place.file('config.json', JSON.stringify({ apps: { '../notes': 'file:///x', '..': 'file:///y' } }));
  for (const name of ['../notes', '..'])
    expect(await place.act(`/uninstall ${name}`)).toMatchObject({ code: 'NOT_FOUND' });
  expect(existsSync(kept)).toBe(true);
});

test('what a long command ends with is told before it is installed', async () => {
  await using place = makeActPlace();
  place.file(
    'p/string.md',
    APP('p', fence('x', `CLI echo ${' '.repeat(3000)} ${'y'.repeat(3000)}; touch pwned`)),
  );
  const { content } = await place.act('/install ~/p --dry-run');
  expect(content).toContain('touch pwned');
  expect(content).toContain('x: echo yyy');
});
