// The keys of a configuration, read from its schema, for the pages that describe them.

import * as z from 'zod/mini';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly required?: readonly string[];
}

export interface Setting {
  readonly key: string;
  readonly type: string;
  readonly default: unknown;
  readonly required: boolean;
}

export interface TableStyle {
  readonly meanings: Readonly<Record<string, string>>;
  /** The table that a key belongs to. */
  readonly tableOf: (key: string) => string;
  readonly heading: (table: string) => string;
}

/** One heading and one table for each group of keys: name, type, default, meaning. */
export function renderTables(
  settings: readonly Setting[],
  { meanings, tableOf, heading }: TableStyle,
): string[] {
  const row = ({ key, type, default: value, required }: Setting): string => {
    const name = key.slice(key.lastIndexOf('.') + 1);
    const shown = value === undefined ? (required ? '(required)' : '–') : `\`${JSON.stringify(value)}\``;
    return `| \`${name}\` | ${type} | ${shown} | ${meanings[key] ?? ''} |`;
  };
  return [...new Set(settings.map(({ key }) => tableOf(key)))].flatMap((table) => [
    heading(table),
    [
      '| key | type | default | meaning |',
      '|---|---|---|---|',
      ...settings.filter(({ key }) => tableOf(key) === table).map(row),
    ].join('\n'),
  ]);
}

/** Every key there is, in the order of the schema: `pools[].session.lift`. */
export function settingsOf(schema: z.core.$ZodType): Setting[] {
  return walk(z.toJSONSchema(schema, { io: 'input' }) as Schema, '');
}

function walk(schema: Schema, at: string): Setting[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const key = at === '' ? name : `${at}.${name}`;
    if (field.properties !== undefined) return walk(field, key);
    if (field.items?.properties !== undefined) return walk(field.items, `${key}[]`);
    const required = schema.required?.includes(name) === true;
    return [{ key, type: typeOf(field), default: field.default, required }];
  });
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' \\| ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array')
    return `array of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return `object of ${typeOf(schema.additionalProperties)}`;
  if (typeof schema.type === 'object') return schema.type.join(' or ');
  return schema.type ?? 'anything';
}
