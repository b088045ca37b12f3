// What a config may say. Unknown keys are told as warnings: a config of another version still works.

import * as z from 'zod/mini';
import { MAX_CONTEXT_TOKENS, MAX_DEVICES, MAX_SLOTS } from '../protocol/config.js';

const WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  '1': true,
  false: false,
  no: false,
  off: false,
  '0': false,
};

/** `yes` and `"true"` too, which people write and YAML 1.2 takes for text. */
const flag = z.pipe(
  z.union([z.boolean(), z.enum(['true', 'false', 'yes', 'no', 'on', 'off', '1', '0'])]),
  z.transform((value) => (typeof value === 'boolean' ? value : WORDS[value] === true)),
);
const text = z.string().check(z.minLength(1));
const whole = z.int().check(z.minimum(0));
const positive = z.int().check(z.minimum(1));
const ratio = z.number().check(z.minimum(0), z.maximum(1));
const tokens = positive.check(z.maximum(MAX_CONTEXT_TOKENS));
/** A key that is there without a value says nothing. */
const opt = <T extends z.ZodMiniType>(schema: T) => z.optional(z.nullable(schema));

const server = z.object({
  host: opt(text),
  port: opt(z.int().check(z.minimum(1), z.maximum(65_535))),
  api_key: opt(z.string()),
  embeddings: opt(flag),
  max_slots: opt(positive.check(z.maximum(MAX_SLOTS))),
  system_prompt: opt(z.string()),
  system_prompt_file: opt(text),
  session_home: opt(text),
  unified_memory_mode: opt(flag),
  verbose: opt(flag),
  enable_thinking_default: opt(flag),
  thinking_budget_tokens: opt(z.int()),
});

const model = z.object({
  path: opt(text),
  name: opt(text),
  mmproj_path: opt(text),
  gpu_layers: opt(z.int()),
  split_mode: opt(z.union([z.string(), z.int()])),
  main_gpu: opt(whole),
  tensor_split: opt(z.array(z.number()).check(z.maxLength(MAX_DEVICES))),
  use_mmap: opt(flag),
  use_mlock: opt(flag),
  vocab_only: opt(flag),
  check_tensors: opt(flag),
});

const context = z.object({
  size: opt(tokens),
  seq_max: opt(positive.check(z.maximum(MAX_SLOTS))),
  batch_size: opt(positive),
  ubatch_size: opt(positive),
  threads: opt(positive),
  threads_batch: opt(positive),
  rope_freq_base: opt(z.number()),
  rope_freq_scale: opt(z.number()),
  rope_scaling_type: opt(z.union([z.string(), z.int()])),
  pooling_type: opt(z.union([z.string(), z.int()])),
  attention_type: opt(z.union([z.string(), z.int()])),
  flash_attention: opt(z.union([flag, z.enum(['auto'])])),
  cache_type_k: opt(text),
  cache_type_v: opt(text),
  offload_kqv: opt(flag),
  kv_unified: opt(flag),
  swa_full: opt(flag),
  embeddings: opt(flag),
});

const sampling = z.object({
  temp: opt(z.number().check(z.minimum(0), z.maximum(10))),
  top_k: opt(z.int()),
  top_p: opt(ratio),
  min_p: opt(ratio),
  typical_p: opt(ratio),
  seed: opt(z.int()),
  repeat_penalty: opt(z.number().check(z.minimum(0))),
  repeat_last_n: opt(z.int()),
  frequency_penalty: opt(z.number()),
  presence_penalty: opt(z.number()),
  max_tokens: opt(positive),
  grammar: opt(z.string()),
});

const fit = z.object({
  enabled: opt(flag),
  target_mib: opt(z.array(whole).check(z.maxLength(MAX_DEVICES))),
  min_ctx: opt(tokens),
});

/** A server of another make that stands behind the config, in place of the engine that is built in. */
const backend = z.object({
  /** `llama-server --model {model} --host {host} --port {port}`, word by word. */
  command: opt(z.array(text).check(z.minLength(1), z.maxLength(256))),
});

const anything = opt(z.record(z.string(), z.unknown()));

export const configSchema = z.object({
  server: opt(server),
  model: opt(model),
  context: opt(context),
  sampling: opt(sampling),
  fit: opt(fit),
  backend: opt(backend),
  multimodal: anything,
  chat: anything,
  lora: opt(z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())])),
  quantize: anything,
  advanced: anything,
});

export type HugindConfig = z.output<typeof configSchema>;

/** The keys of the sections that are known key by key. */
export const KNOWN_KEYS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(configSchema.shape),
  ...Object.fromEntries(
    Object.entries({ server, model, context, fit, backend }).map(([name, section]) => [
      name,
      Object.keys(section.shape),
    ]),
  ),
};

export const DEFAULTS = { host: '127.0.0.1', port: 8080, slots: 4 } as const;
