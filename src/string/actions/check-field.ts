// Whether what a caller gives a field is what the author asked for.

import type { Field } from './action.js';
import { textOf, type Value } from './value.js';

const BOOLEAN = /^(?:true|false|yes|no|1|0)$/iu;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu;

/** Undefined when it is; else what is wrong with it. */
export function checkField(field: Field, value: Value): string | undefined {
  const { name, type, choices } = field;
  const text = textOf(value);
  if (choices !== undefined && !choices.includes(text))
    return `--${name} has to be one of ${choices.join(', ')}`;
  if (type === 'number' && !NUMBER.test(text))
    return `--${name} has to be a number, not ${JSON.stringify(text)}`;
  if (type === 'boolean' && !BOOLEAN.test(text))
    return `--${name} has to be true or false, not ${JSON.stringify(text)}`;
  if (type === 'path' && text.includes('\0')) return `--${name} cannot have a NUL character`;
  if (type === 'json' && !isJson(text)) return `--${name} has to be JSON`;
  return checkLimits(field, text);
}

function checkLimits({ name, type, min, max }: Field, text: string): string | undefined {
  const size = type === 'number' ? Number(text) : Array.from(text).length;
  const unit = type === 'number' ? '' : ' characters';
  if (min !== undefined && size < min) return `--${name} has to be at least ${min}${unit}`;
  if (max !== undefined && size > max) return `--${name} has to be at most ${max}${unit}`;
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** As it goes into a body of JSON. */
export function jsonOf(field: Field | undefined, value: Value): unknown {
  if (typeof value !== 'string') return value;
  if (field?.type === 'number' && NUMBER.test(value)) return Number(value);
  if (field?.type === 'boolean' && BOOLEAN.test(value)) return /^(?:true|yes|1)$/iu.test(value);
  if (field?.type === 'json' && isJson(value)) return JSON.parse(value) as unknown;
  return value;
}
