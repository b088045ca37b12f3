import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkConfig, MAX_CONFIG_FINDINGS } from '../../../../src/hugind/configs/check-config.js';
import { chooseContext } from '../../../../src/hugind/configs/choose-context.js';
import { listConfigs, MAX_CONFIGS } from '../../../../src/hugind/configs/config-files.js';
import { MAX_CONFIG_BYTES, readYamlText } from '../../../../src/hugind/configs/read-yaml.js';
import { readSettings, writeSetting } from '../../../../src/hugind/configs/settings-file.js';
import { findHome } from '../../../../src/hugind/home.js';
import { makeScratch } from '../../../helpers/scratch.js';

const GIB = 1024 ** 3;
const facts = {
  architecture: 'llama',
  trainedContext: 131_072,
  layers: 32,
  cachedKeys: 32_768,
  cachedValues: 32_768,
};
const wish = { facts, modelBytes: 4 * GIB, memoryBytes: 16 * GIB, slots: 4, marginMib: [], asked: undefined };

test('the context is the longest that fits, for every sequence at once', () => {
  // 128 KiB a token, four sequences: 10 GiB are left for 20,480 tokens of each.
  expect(chooseContext(wish)).toEqual({ tokens: 16_384, kvBytes: 16_384 * 4 * 131_072, fits: true });
  expect(chooseContext({ ...wish, marginMib: [1024, 1024] }).tokens).toBe(16_384);
  expect(chooseContext({ ...wish, memoryBytes: 512 * GIB }).tokens).toBe(131_072);
  expect(chooseContext({ ...wish, memoryBytes: 2 * GIB })).toMatchObject({ tokens: 2048, fits: false });
  expect(chooseContext({ ...wish, asked: 100_000 })).toMatchObject({ tokens: 100_000, fits: false });
  expect(chooseContext({ ...wish, facts: { ...facts, trainedContext: 512 } }).tokens).toBe(512);
  expect(chooseContext({ ...wish, facts: { ...facts, trainedContext: 5000 } }).tokens).toBe(5000);
});

test('a config has an end, and so have the findings about it', async () => {
  const path = join(makeScratch(), 'c.yml');
  writeFileSync(path, 'x'.repeat(MAX_CONFIG_BYTES));
  expect(await readYamlText(path)).toHaveLength(MAX_CONFIG_BYTES);
  writeFileSync(path, 'x'.repeat(MAX_CONFIG_BYTES + 1));
  await expect(readYamlText(path)).rejects.toThrow('larger');
  const keys = Array.from({ length: MAX_CONFIG_FINDINGS + 5 }, (_, i) => `k${i}: 1`).join('\n');
  const checked = await checkConfig(`model: {path: x}\n${keys}\n`);
  expect(checked).toMatchObject({ valid: true });
  expect(checked.valid && checked.warnings).toHaveLength(MAX_CONFIG_FINDINGS);
});

test('of two configs with one name the .yml counts, and few are thousands', async () => {
  const home = findHome({ HUGIND_HOME: makeScratch() });
  mkdirSync(home.configs);
  for (const name of ['a.yml', 'a.yaml']) writeFileSync(join(home.configs, name), '');
  expect(await listConfigs(home)).toEqual([{ name: 'a', path: join(home.configs, 'a.yml') }]);
  expect(MAX_CONFIGS).toBeGreaterThan(1000);
});

test('settings keep their comments; damaged ones are left as they are', async () => {
  const path = join(makeScratch(), 'settings.yml');
  writeFileSync(path, '# mine\nhf_token: old # the token\nother: 1\n');
  await writeSetting(path, 'hf_token', 'new');
  expect(await readYamlText(path)).toBe('# mine\nhf_token: new # the token\nother: 1\n');
  expect(await readSettings(path)).toEqual(
    new Map([
      ['hf_token', 'new'],
      ['other', '1'],
    ]),
  );
  writeFileSync(path, '[broken');
  await expect(writeSetting(path, 'hf_token', 'x')).rejects.toThrow('damaged');
  expect(await readYamlText(path)).toBe('[broken');
});
