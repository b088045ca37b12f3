// A protocol's page in docs/protocol, written from its method table.

import * as z from 'zod/mini';

export interface MethodRow {
  readonly name: string;
  readonly summary: string;
  readonly params: z.core.$ZodType;
  readonly result: z.core.$ZodType;
  readonly errors: readonly string[];
}

export interface ProtocolPage {
  readonly title: string;
  readonly source: string;
  readonly methods: readonly MethodRow[];
  readonly errorCodes: Readonly<Record<string, number>>;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly additionalProperties?: Schema | boolean;
}

export function renderProtocolPage(page: ProtocolPage): string {
  return [
    `# ${page.title}`,
    `Written by \`npm run docs\` from \`${page.source}\`; do not edit.`,
    '## Methods',
    table(
      ['method', 'what it does'],
      page.methods.map((method) => [`[\`${method.name}\`](#${anchor(method.name)})`, method.summary]),
    ),
    ...page.methods.flatMap((method) => renderMethod(method, page.errorCodes)),
    '## Error codes',
    'Beside `-32700`, `-32600`, `-32601`, `-32602` and `-32603` of JSON-RPC 2.0.',
    table(
      ['code', 'name'],
      Object.entries(page.errorCodes).map(([name, code]) => [`\`${code}\``, `\`${name}\``]),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

function renderMethod(method: MethodRow, codes: Readonly<Record<string, number>>): string[] {
  const errors = method.errors.map((name) => `\`${codes[name]}\` ${name}`).join(', ');
  return [
    `## ${method.name}`,
    method.summary,
    '**Params**',
    fields(z.toJSONSchema(method.params, { io: 'input' }) as Schema, true),
    '**Result**',
    fields(z.toJSONSchema(method.result, { io: 'output' }) as Schema, false),
    ...(errors === '' ? [] : [`**Errors** ${errors}`]),
  ];
}

function fields(schema: Schema, input: boolean): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const required = schema.required?.includes(name) === true;
    const extra = field.default === undefined ? '' : `, default \`${JSON.stringify(field.default)}\``;
    return [`\`${name}\``, typeText(field), required ? 'yes' : `no${input ? extra : ''}`];
  });
  return rows.length === 0 ? 'None.' : table(['field', 'type', input ? 'required' : 'always there'], rows);
}

function typeText(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  if (schema.items !== undefined) return `array of ${typeText(schema.items)}`;
  if (schema.properties !== undefined)
    return `object (${Object.keys(schema.properties)
      .map((key) => `\`${key}\``)
      .join(', ')})`;
  if (typeof schema.additionalProperties === 'object')
    return `object of ${typeText(schema.additionalProperties)}`;
  return String(schema.type ?? 'any value');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function anchor(name: string): string {
  return name.replaceAll('.', '');
}
