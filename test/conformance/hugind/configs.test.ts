import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeGguf, TINY_LLAMA } from '../../helpers/gguf.js';
import { startHugind } from '../kit/hugind-under-test.js';
import { verifies } from '../kit/verifies.js';

verifies(['hugind/config.list', 'hugind/config.remove'], async () => {
  await using bridge = startHugind();
  const folder = join(bridge.home, 'configs');
  mkdirSync(folder, { recursive: true });
  for (const name of ['b.yml', 'a.yaml', 'config.yml', '.hidden.yml', 'notes.txt'])
    writeFileSync(join(folder, name), '');
  expect(await bridge.ask('config.list')).toEqual({
    configs: [
      { name: 'a', path: join(folder, 'a.yaml') },
      { name: 'b', path: join(folder, 'b.yml') },
    ],
  });
  expect(await bridge.refused('config.remove', { name: 'a' })).toBe('not_confirmed');
  expect(await bridge.refused('config.remove', { name: 'a', confirm: false })).toBe('not_confirmed');
  expect(await bridge.ask('config.remove', { name: 'a', confirm: true })).toEqual({
    removed: true,
    path: join(folder, 'a.yaml'),
  });
  expect(await bridge.ask('config.remove', { name: 'a', confirm: true })).toEqual({
    removed: false,
    path: null,
  });
});

verifies('hugind/config.validate', async () => {
  await using bridge = startHugind();
  const file = join(bridge.home, '..', 'c.yml');
  const judge = async (text: string): Promise<Record<string, unknown>> => {
    writeFileSync(file, text);
    return await bridge.ask('config.validate', { path: file });
  };
  const good =
    'server: {host: 127.0.0.1, port: 8081, api_key: k, embeddings: yes}\nmodel: {path: ~/m.gguf}\n';
  expect(await judge(`${good}context: {size: 2048, seq_max: 2}\nsampling: {temp: 0.2}\n`)).toEqual({
    valid: true,
  });
  expect(await judge(`${good}contxt: {}\n`)).toEqual({
    valid: true,
    warnings: [{ path: 'contxt', message: 'unknown key, it has no effect; did you mean "context"?' }],
  });
  expect(await judge('server: {port: 99999}\nmodel: {path: x}\n')).toMatchObject({
    valid: false,
    errors: [{ path: 'server.port', message: expect.stringContaining('65535') }],
  });
  expect(await judge('server: {port: many}\nmodel: {path: x}\n')).toMatchObject({ valid: false });
  expect(await judge('server: {port: 8080}\n')).toMatchObject({
    valid: false,
    errors: [{ path: 'model.path' }],
  });
  expect(await judge('server: [')).toMatchObject({
    valid: false,
    errors: [{ message: expect.stringContaining('line 1') }],
  });
  expect(await judge('just text')).toMatchObject({ valid: false });
  expect(
    await judge(
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
        .split('')
        .map((n, i) => `${n}: &${n} [${`*${'abcdefg'[i]},`.repeat(9)}]`)
        .join('\n')}\n`,
    ),
  ).toMatchObject({ valid: false });
  expect(await bridge.refused('config.validate', { path: join(bridge.home, 'none.yml') })).toBe('not_found');
  expect(await bridge.refused('config.validate', { path: bridge.home })).toBe('not_found');
});

verifies('hugind/config.info', async () => {
  await using bridge = startHugind();
  const info = await bridge.ask('config.info');
  expect(info).toMatchObject({ os: process.platform, arch: process.arch, cpu_model: expect.any(String) });
  for (const key of [
    'logical_cores',
    'physical_cores',
    'memory_bytes',
    'disk_total_bytes',
    'disk_available_bytes',
  ])
    expect(info[key], key).toBeGreaterThan(0);
  expect(Array.isArray(info['gpus'])).toBe(true);
});

verifies('hugind/config.defaults', async () => {
  await using bridge = startHugind();
  expect(await bridge.ask('config.defaults')).toEqual({ settings: [] });
  expect(await bridge.refused('config.defaults', { hf_token: 'a b' })).toBe('invalid_params');
  await bridge.ask('config.defaults', { hf_token: 'short' });
  expect(await bridge.ask('config.defaults')).toEqual({ settings: [{ key: 'hf_token', value: '****' }] });
});

verifies('hugind/config.init', async () => {
  await using bridge = startHugind();
  const folder = join(bridge.home, 'models/u/r');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'tiny.gguf'), makeGguf(TINY_LLAMA));
  writeFileSync(join(folder, 'mmproj-tiny.gguf'), 'x');
  const made = await bridge.ask('config.init', {
    name: 'tiny',
    model_path: 'u/r/tiny.gguf',
    ctx: 1024,
    n_slots: 2,
  });
  const path = join(bridge.home, 'configs/tiny.yml');
  expect(made).toEqual({
    path,
    model_path: join(folder, 'tiny.gguf'),
    ctx: 1024,
    mmproj_path: join(folder, 'mmproj-tiny.gguf'),
    n_slots: 2,
    kv_bytes: 2 * 1024 * (2 * 2 * 16 * 2 * 2), // slots, tokens; layers, heads, numbers of a head, keys and values, bytes
    fit: { enabled: false, target_mib: [], fits: expect.any(Boolean) },
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await bridge.ask('config.validate', { path: 'tiny' })).toEqual({ valid: true });
  expect(await bridge.refused('config.init', { name: 'tiny', model_path: 'u/r/tiny.gguf' })).toBe(
    'already_exists',
  );
  writeFileSync(path, readFileSync(path, 'utf8').replace('port: 8080', 'port: 9 # mine'));
  const changed = {
    name: 'tiny',
    model_path: join(folder, 'tiny.gguf'),
    overwrite: true,
    ctx: 512,
    enable_fit: true,
  };
  await bridge.ask('config.init', { ...changed, fit_target_mib: [64] });
  const text = readFileSync(path, 'utf8');
  for (const kept of ['port: 9 # mine', 'size: 512', 'enabled: true', '# tiny: how hugind serves', '64'])
    expect(text).toContain(kept);
  expect(await bridge.refused('config.init', { name: 'x', model_path: 'none.gguf' })).toBe('not_found');
  writeFileSync(join(folder, 'bad.gguf'), 'GGUF, or so it says, but then nothing of it is true');
  expect(await bridge.refused('config.init', { name: 'x', model_path: 'u/r/bad.gguf' })).toBe(
    'invalid_params',
  );
  expect(await bridge.refused('config.init', { name: 'config', model_path: 'u/r/tiny.gguf' })).toBe(
    'invalid_params',
  );
});
