import { expect, test } from 'vitest';
import { readParams } from '../../../src/hugind/call.js';
import { ERRORS } from '../../../src/hugind/errors.js';
import { METHODS } from '../../../src/hugind/protocol.js';
import { MAX_AGENT_ARGS } from '../../../src/hugind/protocol/agent.js';
import {
  MAX_CONTEXT_TOKENS,
  MAX_DEVICES,
  MAX_SLOTS,
  MAX_TOKEN_CHARS,
} from '../../../src/hugind/protocol/config.js';
import { MAX_FILES_OF_REQUEST } from '../../../src/hugind/protocol/model.js';

const init = { name: 'a', model_path: 'm.gguf' };

test.each([
  ['config.init', (n: number) => ({ ...init, ctx: n }), MAX_CONTEXT_TOKENS],
  ['config.init', (n: number) => ({ ...init, n_slots: n }), MAX_SLOTS],
  ['config.init', (n: number) => ({ ...init, fit_target_mib: Array(n).fill(1) }), MAX_DEVICES],
  ['config.defaults', (n: number) => ({ hf_token: 'x'.repeat(n) }), MAX_TOKEN_CHARS],
  ['model.add', (n: number) => ({ repo: 'u/r', files: Array(n).fill('a.gguf') }), MAX_FILES_OF_REQUEST],
  ['agent.run', (n: number) => ({ path: 'x', args: Array(n).fill('a') }), MAX_AGENT_ARGS],
] as const)('%s takes as much as it says, and no more', (name, make, max) => {
  expect(() => readParams(METHODS[name].params, make(max))).not.toThrow();
  expect(() => readParams(METHODS[name].params, make(max + 1))).toThrow(/at most/);
});

test('defaults are those of the specification', () => {
  expect(readParams(METHODS['config.init'].params, init)).toEqual({
    ...init,
    overwrite: false,
    n_slots: 4,
    enable_fit: false,
    fit_target_mib: [],
  });
});

test('every method is known by its own name, and fails with words that are known', () => {
  for (const [name, method] of Object.entries(METHODS)) {
    expect(method.name).toBe(name);
    for (const error of method.errors) expect(Object.keys(ERRORS)).toContain(error);
  }
});
