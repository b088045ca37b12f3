// What JSON.parse says of a line, in the words of the scanner: the oracle of its tests.

import { newReadSlab, SLAB_BYTES, slabOf } from '../../../../src/bus/flow/slab.js';
import { Fields, type Token } from '../../../../src/bus/scan/fields.js';
import { scan } from '../../../../src/bus/scan/scan.js';
import { canonicalToken } from '../../../../src/bus/scan/tokens.js';

export interface Found {
  readonly id: string | number | undefined;
  readonly session: string | undefined;
  readonly paramsSession: string | undefined;
  readonly resultSession: string | undefined;
  readonly requestId: string | number | undefined;
  readonly method: string | undefined;
  readonly pool: string | undefined;
  readonly hasResult: boolean;
  readonly hasError: boolean;
}

/** Undefined: no JSON object. Bytes are read one by one, so that those which are no UTF-8 count as letters. */
export function byJsonParse(line: Buffer): Found | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line.toString('latin1'));
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const own = (key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined);
  return {
    id: idOf(own('id')),
    session: sessionOf(own('sessionId')),
    paramsSession: sessionIn(own('params')),
    resultSession: sessionIn(own('result')),
    requestId: idOf(own('requestId')),
    method: typeof own('method') === 'string' ? (own('method') as string) : undefined,
    pool: sessionOf(own('pool')),
    hasResult: Object.hasOwn(value, 'result'),
    hasError: Object.hasOwn(value, 'error'),
  };
}

const fields = new Fields();
const readSlab = newReadSlab(2 * SLAB_BYTES);
if (readSlab.seek === undefined) throw new Error('no vector instructions here: half of this is not tested');

/** `before` bytes are put in front, so that the line begins anywhere in a word. */
export function byScanner(line: Buffer, before = 0): Found | undefined {
  const whole = Buffer.concat([Buffer.alloc(before, 0x22), line, Buffer.from('\n')]);
  const slab = slabOf(whole);
  const isObject = scan(slab, before, before + line.length, fields);
  if (whole.length <= readSlab.bytes.length) {
    // The block that reads go to is looked at in another way, with the same result.
    const first = JSON.stringify(fields);
    whole.copy(readSlab.bytes);
    if (scan(readSlab, before, before + line.length, fields) !== isObject || JSON.stringify(fields) !== first)
      throw new Error('the two ways to pass over a string do not agree');
  }
  if (!isObject) return undefined;
  const text = (start: number, end: number): string | number | undefined =>
    start < 0 ? undefined : (JSON.parse(slab.bytes.toString('latin1', start, end)) as string | number);
  const of = (token: Token): string | number | undefined => {
    const value = text(token.start, token.end);
    if (value !== undefined && token.plain) expectPlain(slab.bytes, token);
    return value;
  };
  return {
    id: of(fields.id),
    session: of(fields.session) as string | undefined,
    paramsSession: of(fields.paramsSession) as string | undefined,
    resultSession: of(fields.resultSession) as string | undefined,
    requestId: of(fields.requestId),
    method: text(fields.methodStart, fields.methodEnd) as string | undefined,
    pool: text(fields.poolStart, fields.poolEnd) as string | undefined,
    hasResult: fields.hasResult,
    hasError: fields.hasError,
  };
}

/** A token said to be plain is its own canonical form (where it is UTF-8, which is all a canonical form can be). */
function expectPlain(bytes: Buffer, token: Token): void {
  const raw = bytes.subarray(token.start, token.end);
  if (!Buffer.from(raw.toString()).equals(raw)) return;
  if (raw.some((byte) => byte >= 0x7f)) return;
  const canonical = canonicalToken(bytes, token.start, token.end);
  if (!canonical.equals(raw)) throw new Error(`${raw.toString()} is not plain: ${canonical.toString()}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function idOf(value: unknown): string | number | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

function sessionOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function sessionIn(value: unknown): string | undefined {
  return isObject(value) && Object.hasOwn(value, 'sessionId') ? sessionOf(value['sessionId']) : undefined;
}
