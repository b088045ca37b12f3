// Values that a schema takes, made from the schema itself: what is added to a table of methods is tried by itself.

import fc, { type Arbitrary } from 'fast-check';

/** The part of JSON Schema that our own schemas come out as. */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

/** What a field of this name usually holds, where any value of its type would be refused. */
export type FieldExamples = Readonly<Record<string, Arbitrary<unknown>>>;

/** Most of what may be left out is. */
const LEFT_OUT = { weight: 3, arbitrary: fc.constant(undefined) };
const MAX_ITEMS = 3;
const MAX_CHARS = 12;

export function exampleOf(schema: Schema, fields: FieldExamples): Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((each) => exampleOf(each, fields)));
  switch (schema.type) {
    case 'object':
      return exampleObject(schema, fields);
    case 'array':
      return fc.array(exampleOf(schema.items ?? {}, fields), { maxLength: MAX_ITEMS });
    case 'string':
      return exampleText(schema);
    case 'integer':
      return fc.integer({
        min: Math.max(schema.minimum ?? -1000, -1000),
        max: Math.min(schema.maximum ?? 100_000, 100_000),
      });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function exampleObject(schema: Schema, fields: FieldExamples): Arbitrary<unknown> {
  const { properties, additionalProperties } = schema;
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return fc.dictionary(fc.string({ maxLength: MAX_CHARS }), exampleOf(values, fields), {
      maxKeys: MAX_ITEMS,
    });
  }
  const required = new Set(schema.required);
  const members = Object.entries(properties).map(([name, value]) => {
    const example = fields[name] ?? exampleOf(value, fields);
    return [name, required.has(name) ? example : fc.oneof(LEFT_OUT, example)] as const;
  });
  return fc
    .record(Object.fromEntries(members))
    .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));
}

function exampleText({ pattern, minLength = 0, maxLength = MAX_CHARS }: Schema): Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, MAX_CHARS)) });
}
