import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { FakeHub, sendFile, sendJson, sha256 } from '../../helpers/hub.js';
import { bin, run } from '../../helpers/program.js';
import { startHugind } from '../kit/hugind-under-test.js';
import { verifies } from '../kit/verifies.js';

const bytesOf = (size: number, seed: number): Buffer =>
  Buffer.from(Array.from({ length: size }, (_, i) => (i * 31 + seed * 17 + (i >> 8)) & 255));
const A = bytesOf(200_000, 1);

/** All files of a folder but locks, hidden ones too. */
function everything(folder: string): string[] {
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true)
        .sort()
    : [];
}

verifies(
  [
    'hugind/model.add',
    'hugind/ndjson/event',
    'hugind/model.list',
    'hugind/model.show',
    'hugind/fault/progress',
  ],
  async () => {
    await using hub = await FakeHub.start({ 'a.gguf': A, 'README.md': Buffer.from('x') });
    await using bridge = startHugind({ HF_ENDPOINT: hub.url });
    const added = await bridge.ask('model.add', { repo: 'user/tiny', files: ['a.gguf'] });
    expect(added).toEqual({ repo: 'user/tiny', files: ['a.gguf'] });
    const events = bridge.events.filter(({ id }) => id === 'r1');
    expect(events[0]).toEqual({
      event: 'status',
      id: 'r1',
      data: { message: 'download.start repo=user/tiny file=a.gguf' },
      schema_version: '1',
    });
    expect(events.at(-1)?.data).toEqual({ message: 'download.finish repo=user/tiny file=a.gguf' });
    const steps = events.filter(({ event }) => event === 'progress').map(({ data }) => data);
    expect(steps[0]).toEqual({ repo: 'user/tiny', file: 'a.gguf', downloaded: 0, total: A.length });
    expect(steps.at(-1)).toMatchObject({ downloaded: A.length, total: A.length });
    const path = join(bridge.home, 'models/user/tiny');
    expect(await bridge.ask('model.list')).toEqual({ repos: [{ name: 'user/tiny', path }] });
    expect(await bridge.ask('model.show', { repo: 'user/tiny' })).toEqual({
      repo: 'user/tiny',
      files: [{ name: 'a.gguf', path: join(path, 'a.gguf'), size_bytes: A.length }],
    });
    expect(sha256(readFileSync(join(path, 'a.gguf')))).toBe(sha256(A));
    expect(everything(path)).toEqual(['a.gguf']);
    // Once more: it is there, and is not fetched again.
    const before = hub.asked.filter(({ path: asked }) => asked.includes('/resolve/')).length;
    await bridge.ask('model.add', { repo: 'user/tiny', files: ['a.gguf'] });
    expect(hub.asked.filter(({ path: asked }) => asked.includes('/resolve/'))).toHaveLength(before);
    expect(await bridge.refused('model.show', { repo: 'user/none' })).toBe('not_found');
    expect(await bridge.refused('model.add', { repo: 'user/tiny', files: ['none.gguf'] })).toBe('not_found');
    expect(await bridge.refused('model.add', { repo: 'user/tiny', files: [] })).toBe('invalid_params');
  },
);

verifies(['hugind/ours/split', 'hugind/fault/folders'], async () => {
  const parts = [1, 2, 3].map((i) => `Q4/big-0000${i}-of-00003.gguf`);
  await using hub = await FakeHub.start(
    Object.fromEntries([...parts, 'Q8/ü 1.gguf'].map((name, i) => [name, bytesOf(5000, i)])),
  );
  await using bridge = startHugind({ HF_ENDPOINT: hub.url });
  const added = await bridge.ask('model.add', { repo: 'u/big', files: [parts[0], 'Q8/ü 1.gguf'] });
  expect(added['files']).toEqual([...parts, 'Q8/ü 1.gguf']);
  const shown = await bridge.ask('model.show', { repo: 'u/big' });
  expect((shown['files'] as { name: string }[]).map(({ name }) => name)).toEqual([...parts, 'Q8/ü 1.gguf']);
  for (const name of hub.files.keys())
    expect(sha256(readFileSync(join(bridge.home, 'models/u/big', name)))).toBe(sha256(hub.files.get(name)!));
  hub.files.delete(parts[2]!);
  expect(await bridge.refused('model.add', { repo: 'u/big', files: [parts[0]] })).toBe('not_found');
});

verifies(['hugind/model.remove', 'hugind/fault/not-deleted'], async () => {
  await using bridge = startHugind();
  const folder = join(bridge.home, 'models/u/r');
  mkdirSync(join(folder, 'sub'), { recursive: true });
  for (const name of ['a.gguf', 'b.gguf', 'sub/c.gguf']) writeFileSync(join(folder, name), 'x');
  const outside = join(bridge.home, '..', 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'kept.gguf'), 'x');
  symlinkSync(outside, join(folder, 'way-out'));
  expect(await bridge.refused('model.remove', { repo: 'u/r', files: ['a.gguf', 'none.gguf'] })).toBe(
    'not_found',
  );
  expect(await bridge.refused('model.remove', { repo: 'u/r', files: ['way-out/kept.gguf'] })).toBe(
    'permission_denied',
  );
  expect(await bridge.refused('model.remove', { repo: 'u/r' })).toBe('invalid_params');
  expect(everything(folder)).toContain('a.gguf');
  expect(await bridge.ask('model.remove', { repo: 'u/r', files: ['a.gguf', 'sub/c.gguf'] })).toEqual({
    repo: 'u/r',
    deleted_repo: false,
    deleted_files: ['a.gguf', 'sub/c.gguf'],
  });
  expect(existsSync(join(folder, 'sub'))).toBe(false);
  expect(await bridge.ask('model.remove', { repo: 'u/r', files: ['b.gguf'], delete_if_empty: true })).toEqual(
    {
      repo: 'u/r',
      deleted_repo: true,
      deleted_files: ['b.gguf'],
    },
  );
  expect(await bridge.refused('model.remove', { repo: 'u/r', delete_repo: true })).toBe('not_found');
  expect(readFileSync(join(outside, 'kept.gguf'), 'utf8')).toBe('x');
});

verifies('hugind/fault/spliced', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': A });
  let cuts = 0;
  hub.behave = (_, res, asked) => {
    if (!asked.path.includes('/resolve/') || cuts++ > 0) return false;
    // The first half, then another file of the same size in its place.
    sendFile(res, A, asked, A.length / 2);
    hub.files.set('a.gguf', bytesOf(A.length, 9));
    return true;
  };
  await using bridge = startHugind({ HF_ENDPOINT: hub.url });
  const first = await bridge.call('model.add', { repo: 'u/r', files: ['a.gguf'] });
  const path = join(bridge.home, 'models/u/r/a.gguf');
  expect(first.error?.code).toBe('upstream_error'); // it is not what was listed
  expect(existsSync(path)).toBe(false);
  await bridge.ask('model.add', { repo: 'u/r', files: ['a.gguf'] });
  expect(sha256(readFileSync(path))).toBe(sha256(hub.files.get('a.gguf')!));
});

verifies('hugind/fault/token', async () => {
  await using elsewhere = await FakeHub.start();
  elsewhere.behave = (_, res, asked) => {
    sendFile(res, A, asked);
    return true;
  };
  await using hub = await FakeHub.start({ 'a.gguf': A });
  hub.behave = (_, res, { path }) => {
    if (!path.includes('/resolve/')) return false;
    res.writeHead(302, { location: `${elsewhere.url}/blob?signature=1` }).end();
    return true;
  };
  await using bridge = startHugind({ HF_ENDPOINT: hub.url });
  const token = 'hf_0123456789secret';
  const stored = await bridge.ask('config.defaults', { hf_token: token });
  expect(stored).toEqual({ settings: [{ key: 'hf_token', value: '****cret' }] });
  expect(statSync(join(bridge.home, 'settings.yml')).mode & 0o777).toBe(0o600);
  await bridge.ask('model.add', { repo: 'u/r', files: ['a.gguf'] });
  expect(hub.asked.map(({ authorization }) => authorization)).toEqual([`Bearer ${token}`, `Bearer ${token}`]);
  expect(elsewhere.asked.map(({ authorization }) => authorization)).toEqual([undefined]);
  expect(await bridge.ask('config.defaults', { hf_token: '' })).toEqual({ settings: [] });
  expect(readFileSync(join(bridge.home, 'settings.yml'), 'utf8')).not.toContain('secret');
});

verifies('hugind/ours/gated', async () => {
  await using hub = await FakeHub.start();
  let errorCode = 'GatedRepo';
  hub.behave = (_, res) => {
    res.writeHead(401, { 'x-error-code': errorCode }).end();
    return true;
  };
  await using bridge = startHugind({ HF_ENDPOINT: hub.url });
  const gated = await bridge.call('model.add', { repo: 'u/gated', files: ['a.gguf'] });
  expect(gated.error).toMatchObject({
    code: 'permission_denied',
    message: expect.stringContaining('HF_TOKEN'),
  });
  expect(gated.error?.message).toContain(`${hub.url}/u/gated`);
  errorCode = 'RepoNotFound';
  expect(await bridge.refused('model.add', { repo: 'u/none', files: ['a.gguf'] })).toBe('not_found');
});

verifies('hugind/ours/hostile-hub', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': A });
  await using bridge = startHugind({ HF_ENDPOINT: hub.url });
  const refusedAs = async (behave: FakeHub['behave']): Promise<string | undefined> => {
    hub.behave = behave;
    return await bridge.refused('model.add', { repo: 'u/r', files: ['a.gguf'] });
  };
  const onFile =
    (answer: FakeHub['behave']): FakeHub['behave'] =>
    (req, res, asked) =>
      asked.path.includes('/resolve/') ? (answer(req, res, asked), true) : false;
  const listing =
    (entries: object[], headers: Record<string, string> = {}): FakeHub['behave'] =>
    (_, res, { path }) => {
      if (!path.includes('/tree/')) return false;
      res.writeHead(200, headers).end(JSON.stringify(entries));
      return true;
    };
  // Sizes that are not true, and a body without an end.
  expect(
    await refusedAs(onFile((_, res) => void res.writeHead(200, { 'content-length': 7 }).end('1234567'))),
  ).toBe('upstream_error');
  expect(
    await refusedAs(
      onFile((_, res) => {
        res.writeHead(200, { etag: '"e"' });
        const more = (): void => void (res.destroyed || res.write(Buffer.alloc(100_000), more));
        more();
      }),
    ),
  ).toBe('upstream_error');
  // The right size, other bytes.
  expect(await refusedAs(onFile((_, res, asked) => sendFile(res, Buffer.alloc(A.length), asked)))).toBe(
    'upstream_error',
  );
  // Addresses that are none of a hub, and redirects without an end.
  for (const location of ['file:///etc/passwd', 'gopher://x/', 'http://'])
    expect(await refusedAs(onFile((_, res) => void res.writeHead(302, { location }).end())), location).toBe(
      'upstream_error',
    );
  expect(
    await refusedAs(onFile((_, res, { path }) => void res.writeHead(302, { location: `${path}x` }).end())),
  ).toBe('upstream_error');
  // Names that lead elsewhere are not listed; a listing that goes on elsewhere is not followed.
  for (const path of ['../a.gguf', '/a.gguf', 'x/../../a.gguf', '.hidden.gguf'])
    expect(await refusedAs(listing([{ type: 'file', path, size: 3 }])), path).toBe('not_found');
  expect(await refusedAs(listing([], { link: '<http://127.0.0.1:1/next>; rel="next"' }))).toBe(
    'upstream_error',
  );
  expect(
    await refusedAs((_, res, { path }) => {
      if (path.includes('/tree/')) res.writeHead(404).end();
      else sendJson(res, { siblings: 'none' });
      return true;
    }),
  ).toBe('upstream_error');
  expect(everything(join(bridge.home, 'models'))).toEqual([]);
  expect(await bridge.ask('model.list')).toEqual({ repos: [] });
  expect(readdirSync(join(bridge.home, '..'))).toEqual(['home']);
});

verifies('hugind/ours/cli', async () => {
  await using hub = await FakeHub.start({ 'a.gguf': A });
  await using bridge = startHugind({ HF_ENDPOINT: hub.url }); // for its folder
  const hugind = (...args: string[]) =>
    run([process.execPath, bin('hugind'), ...args], {
      env: { HUGIND_HOME: bridge.home, HF_ENDPOINT: hub.url, HF_TOKEN: undefined },
    });
  const added = await hugind('model', 'add', 'u/r', 'a.gguf');
  expect([added.code, added.stdout]).toEqual([0, 'u/r/a.gguf\n']);
  expect(added.stderr).toContain('download.finish');
  const listed = await hugind('model', 'list', '--json');
  expect(JSON.parse(listed.stdout)).toEqual({
    repos: [{ name: 'u/r', path: join(bridge.home, 'models/u/r') }],
  });
  const none = await hugind('model', 'show', 'u/none', '--json');
  expect(none.code).toBe(1);
  expect(JSON.parse(none.stdout)).toMatchObject({ error: { code: 'not_found' } });
  const unsure = await hugind('config', 'remove', 'x');
  expect([unsure.code, unsure.stdout]).toEqual([1, '']);
});
