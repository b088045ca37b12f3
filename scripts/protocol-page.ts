// A protocol's page in docs/protocol, written from its method table.

import * as z from 'zod/mini';

export interface MethodRow {
  readonly name: string;
  readonly summary: string;
  readonly params: z.core.$ZodType;
  readonly result: z.core.$ZodType;
  readonly errors: readonly string[];
}

export interface EventRow {
  readonly name: string;
  readonly summary: string;
  readonly params: z.core.$ZodType;
}

export interface ErrorNote {
  readonly when: string;
  /** The fields of `data`. */
  readonly data: string;
}

export interface ProtocolPage {
  readonly title: string;
  readonly source: string;
  readonly methods: readonly MethodRow[];
  readonly events: readonly EventRow[];
  readonly errorCodes: Readonly<Record<string, number>>;
  readonly errorNotes: Readonly<Record<string, ErrorNote>>;
  /** Code, when it comes, data. */
  readonly standardErrors: readonly (readonly [string, string, string])[];
  /** What `reason` in the data of -32602 may be, and what that is about. */
  readonly invalidParams: readonly (readonly [string, string])[];
  /** By the name of the method: what its schema cannot tell. */
  readonly methodNotes: Readonly<Record<string, string>>;
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
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

export function renderProtocolPage(page: ProtocolPage): string {
  return [
    `# ${page.title}`,
    `Written by \`npm run docs\` from \`${page.source}\`; do not edit.`,
    '## Methods',
    tableOf(
      ['method', 'what it does'],
      page.methods.map((method) => [`[\`${method.name}\`](#${anchor(method.name)})`, method.summary]),
    ),
    ...page.methods.flatMap((method) => renderMethod(method, page)),
    '## Events',
    'Notifications of the server: they have no id and are not answered.',
    ...page.events.flatMap((event) => [
      `### ${event.name}`,
      event.summary,
      fields(z.toJSONSchema(event.params, { io: 'output' }) as Schema, false),
    ]),
    '## Error codes',
    'An error is `{code, message, data}`; `message` is for people and may change, `code` and `data` are for programs.',
    tableOf(
      ['code', 'name', 'when', 'data'],
      Object.entries(page.errorCodes).map(([name, code]) => {
        const { when, data } = page.errorNotes[name] ?? { when: '', data: '' };
        return [`\`${code}\``, `\`${name}\``, when, data];
      }),
    ),
    'Those of JSON-RPC 2.0, which every method may answer:',
    tableOf(
      ['code', 'when', 'data'],
      page.standardErrors.map(([code, when, data]) => [`\`${code}\``, when, data]),
    ),
    'What `data.reason` of `-32602` may be:',
    tableOf(['reason', 'about'], page.invalidParams),
  ]
    .join('\n\n')
    .concat('\n');
}

function renderMethod(method: MethodRow, { errorCodes, methodNotes }: ProtocolPage): string[] {
  const errors = method.errors.map((name) => `\`${errorCodes[name]}\` ${name}`).join(', ');
  const note = methodNotes[method.name];
  return [
    `## ${method.name}`,
    method.summary,
    ...(note === undefined ? [] : [note]),
    '**Params**',
    fields(z.toJSONSchema(method.params, { io: 'input' }) as Schema, true),
    '**Result**',
    fields(z.toJSONSchema(method.result, { io: 'output' }) as Schema, false),
    ...(errors === '' ? [] : [`**Errors** ${errors}`]),
  ];
}

/** The fields of a JSON schema, as rows. */
export function fieldsOf(schema: z.core.JSONSchema.JSONSchema, input: boolean): string {
  return fields(schema as Schema, input);
}

function fields(schema: Schema, input: boolean): string {
  const rows = rowsOf(schema, '', input);
  return rows.length === 0 ? 'None.' : tableOf(['field', 'type', input ? 'required' : 'always there'], rows);
}

/** A field, and behind it the fields of what it holds: `limits.max_output_bytes`, `entries[].name`. */
function rowsOf(schema: Schema, at: string, input: boolean): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const required = schema.required?.includes(name) === true;
    const extra = field.default === undefined ? '' : `, default \`${JSON.stringify(field.default)}\``;
    const path = `${at}${name}`;
    const own = [`\`${path}\``, typeText(field), required ? 'yes' : `no${input ? extra : ''}`];
    const inner = field.items === undefined ? field : field.items;
    return [own, ...rowsOf(inner, `${path}${field.items === undefined ? '' : '[]'}.`, input)];
  });
}

function typeText(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeText).join(' or ');
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  if (schema.items !== undefined) return `array of ${typeText(schema.items)}${boundsText(schema)}`;
  if (schema.properties !== undefined) return 'object';
  if (typeof schema.additionalProperties === 'object')
    return `object of ${typeText(schema.additionalProperties)}`;
  return `${String(schema.type ?? 'any value')}${boundsText(schema)}`;
}

function boundsText(schema: Schema): string {
  const bounds = [
    rangeText(schema.minLength, schema.maxLength, ' characters'),
    rangeText(schema.minItems, schema.maxItems, ' entries'),
    // Every whole number has these; they say nothing.
    rangeText(
      schema.minimum === Number.MIN_SAFE_INTEGER ? undefined : schema.minimum,
      schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum,
      '',
    ),
    schema.pattern === undefined ? undefined : `\`${schema.pattern}\``,
  ].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? '' : `, ${bounds.join(', ')}`;
}

function rangeText(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}`;
  if (max !== undefined) return `at most ${max}${unit}`;
  return min === undefined ? undefined : `at least ${min}${unit}`;
}

export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function anchor(name: string): string {
  return name.replaceAll('.', '');
}
