// The header of a GGUF file, read within bounds: an engine that is given a damaged one may hang or abort.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { ByteWindow } from './byte-window.js';
import { GgufError } from './gguf-error.js';
import { bytesOfTensor } from './tensor-types.js';

/** Metadata and the table of tensors; a vocabulary of 256,000 words takes about 10 MB. */
export const MAX_HEADER_BYTES = 256 * 1024 * 1024;
/** Keys of metadata; models have fifty. */
export const MAX_GGUF_KEYS = 65_536;
/** Tensors; the largest models have some thousands. */
export const MAX_GGUF_TENSORS = 65_536;
/** Of a key or the name of a tensor. */
export const MAX_GGUF_NAME_BYTES = 1024;
/** Of a text in the metadata; chat templates have some kilobytes. */
export const MAX_GGUF_TEXT_BYTES = 4 * 1024 * 1024;
/** Of an array in the metadata: a vocabulary, or what goes with it. */
export const MAX_GGUF_ARRAY = 4 * 1024 * 1024;
/** Arrays that are kept: one number for each layer. Longer ones are only passed over. */
export const MAX_KEPT_ARRAY = 4096;

const MAGIC = 0x46554747;
const MAX_DIMENSIONS = 8;
const DEFAULT_ALIGNMENT = 32;
/** In the order of their numbers. */
const TYPES = [
  'u8',
  'i8',
  'u16',
  'i16',
  'u32',
  'i32',
  'f32',
  'bool',
  'text',
  'array',
  'u64',
  'i64',
  'f64',
] as const;
const WIDTHS: Readonly<Record<string, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  bool: 1,
  u64: 8,
  i64: 8,
  f64: 8,
};

export type GgufValue = string | number | boolean | readonly number[];

export interface GgufHeader {
  readonly version: number;
  readonly sizeBytes: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: number;
}

/** Rejects with a GgufError for what is none, or is cut off. */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const found = await file.stat();
  if (!found.isFile()) throw new GgufError('it is no file');
  const bytes = new ByteWindow(file, found.size, MAX_HEADER_BYTES);
  if (found.size < 24 || (await bytes.u32()) !== MAGIC) throw new GgufError('it does not begin with "GGUF"');
  const version = await bytes.u32();
  if (version !== 2 && version !== 3) throw new GgufError(`version ${version} is not known`);
  const tensors = await bytes.u64();
  const keys = await bytes.u64();
  if (tensors > MAX_GGUF_TENSORS) throw new GgufError(`it claims ${tensors} tensors`);
  if (keys > MAX_GGUF_KEYS) throw new GgufError(`it claims ${keys} keys`);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < keys; i++) {
    const key = await bytes.text(MAX_GGUF_NAME_BYTES, 'a key');
    const value = await readValue(bytes, typeOf(await bytes.u32()));
    if (value !== undefined) metadata.set(key, value);
  }
  await checkTensors(bytes, { tensors, metadata, sizeBytes: found.size });
  return { version, sizeBytes: found.size, metadata, tensors };
}

/** Every tensor lies within the file: one that was cut off is found before an engine maps it. */
async function checkTensors(
  bytes: ByteWindow,
  { tensors, metadata, sizeBytes }: Pick<GgufHeader, 'tensors' | 'metadata' | 'sizeBytes'>,
): Promise<void> {
  let end = 0;
  for (let i = 0; i < tensors; i++) {
    const name = await bytes.text(MAX_GGUF_NAME_BYTES, 'the name of a tensor');
    const count = await bytes.u32();
    if (count > MAX_DIMENSIONS)
      throw new GgufError(`the tensor ${JSON.stringify(name)} has ${count} dimensions`);
    let elements = 1;
    for (let d = 0; d < count; d++) elements *= await bytes.u64();
    const type = await bytes.u32();
    const offset = await bytes.u64();
    end = Math.max(end, offset + (bytesOfTensor(type, elements) ?? 0));
  }
  if (tensors === 0) return;
  const given = metadata.get('general.alignment');
  const alignment = typeof given === 'number' && given > 0 ? given : DEFAULT_ALIGNMENT;
  const start = Math.ceil(bytes.position / alignment) * alignment;
  if (start + end > sizeBytes)
    throw new GgufError(`the file ends ${start + end - sizeBytes} bytes before its last tensor does`);
}

type TypeName = (typeof TYPES)[number];

function typeOf(number: number): TypeName {
  const type = TYPES[number];
  if (type === undefined) throw new GgufError(`a value of the unknown type ${number}`);
  return type;
}

/** Undefined for arrays that nobody asks for. */
async function readValue(bytes: ByteWindow, type: TypeName): Promise<GgufValue | undefined> {
  if (type === 'array') return await readArray(bytes);
  if (type === 'text') return await bytes.text(MAX_GGUF_TEXT_BYTES, 'a text');
  if (type === 'bool') return (await bytes.u8()) !== 0;
  return await readNumber(bytes, type);
}

async function readNumber(
  bytes: ByteWindow,
  type: Exclude<TypeName, 'array' | 'text' | 'bool'>,
): Promise<number> {
  switch (type) {
    case 'u32':
      return await bytes.u32();
    case 'i32':
      return await bytes.i32();
    case 'f32':
      return await bytes.f32();
    case 'f64':
      return await bytes.f64();
    case 'u64':
      return await bytes.u64();
    case 'i64':
      return await bytes.i64();
    case 'u8':
    case 'i8':
      return await bytes.u8();
    default:
      return (await bytes.u8()) + 256 * (await bytes.u8());
  }
}

async function readArray(bytes: ByteWindow): Promise<readonly number[] | undefined> {
  const type = typeOf(await bytes.u32());
  const length = await bytes.u64();
  if (length > MAX_GGUF_ARRAY) throw new GgufError(`an array claims ${length} members`);
  if (type === 'array') throw new GgufError('an array of arrays');
  if (type === 'text') {
    for (let i = 0; i < length; i++) bytes.skip(await bytes.u64());
    return undefined;
  }
  if (type === 'bool' || length > MAX_KEPT_ARRAY) {
    bytes.skip(length * (WIDTHS[type] ?? 1));
    return undefined;
  }
  const values: number[] = [];
  for (let i = 0; i < length; i++) values.push(await readNumber(bytes, type));
  return values;
}
