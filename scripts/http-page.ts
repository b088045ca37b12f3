// The page of an HTTP protocol in docs/protocol, written from its route table.

import * as z from 'zod/mini';
import { AGENT_HEADER, type Answer, CORS_HEADERS, ROUTES, type RouteSpec } from '../src/string/protocol.js';
import { fieldsOf, tableOf } from './protocol-page.js';
import { STRINGD_ENVIRONMENT, STRINGD_NOTES } from './stringd-notes.js';

export function renderStringdPage(): string {
  const routes = Object.values<RouteSpec>(ROUTES);
  return [
    '# stringd',
    'Written by `npm run docs` from `src/string/protocol.ts`; do not edit. The same as OpenAPI 3.1: `GET /openapi.json` of a running daemon.',
    ...STRINGD_NOTES,
    '## Headers of every answer',
    tableOf(
      ['header', 'value'],
      Object.entries(CORS_HEADERS).map(([name, value]) => [`\`${name}\``, `\`${value}\``]),
    ),
    '## Routes',
    tableOf(
      ['route', 'what it does', ''],
      routes.map((route) => [
        `[\`${nameOf(route)}\`](#${anchor(nameOf(route))})`,
        route.summary,
        route.extension === true ? 'extension' : '',
      ]),
    ),
    ...routes.flatMap(renderRoute),
    '## Environment',
    tableOf(['variable', 'default', 'effect'], STRINGD_ENVIRONMENT),
  ]
    .join('\n\n')
    .concat('\n');
}

function renderRoute(route: RouteSpec): string[] {
  const { summary, agent, query = {}, body } = route;
  const params = [
    ...(agent === undefined ? [] : [[`\`${AGENT_HEADER}\``, 'header', agent]]),
    ...Object.entries(query).map(([name, what]) => [`\`${name}\``, 'query', what]),
  ];
  return [
    `## ${nameOf(route)}`,
    `${summary}${route.extension === true ? ' Not of the specification: an extension.' : ''}`,
    ...(params.length === 0 ? [] : [tableOf(['name', 'where', ''], params)]),
    ...(body === undefined ? [] : ['**Body**', describeRequest(body)]),
    '**Answers**',
    tableOf(
      ['status', 'when', 'body'],
      Object.entries<Answer>(route.answers).map(([status, answer]) => [
        `\`${status}\``,
        answer.when,
        describeBody(answer),
      ]),
    ),
  ];
}

/** A body whose members are those of another protocol (`/mcp`) has no table here. */
function describeRequest(body: NonNullable<RouteSpec['body']>): string {
  if ('type' in body) return `\`${body.type}\``;
  const { properties = {} } = z.toJSONSchema(body.json, { io: 'input' });
  return Object.keys(properties).length === 0 ? '`application/json`' : fields(body.json, 'input');
}

function describeBody({ json, type, events }: Answer): string {
  if (type !== undefined) return `\`${type}\``;
  if (events !== undefined)
    return `\`text/event-stream\`: ${Object.entries(events)
      .map(([name, data]) => `\`${name}\` ${sketch(z.toJSONSchema(data) as Schema)}`)
      .join(', ')}`;
  return json === undefined ? '' : sketch(z.toJSONSchema(json) as Schema);
}

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** `{agents: [{id, home}]}`: the names, which is what one looks for. */
function sketch(schema: Schema): string {
  const text = outline(schema);
  return text === '' ? `a ${schema.type ?? 'value'}` : `\`${text}\``;
}

function outline(schema: Schema): string {
  if (schema.properties !== undefined) {
    const members = Object.entries(schema.properties).map(([name, member]) => {
      if (member.const !== undefined) return `${name}: ${JSON.stringify(member.const)}`;
      const inner = outline(member);
      return inner === '' ? name : `${name}: ${inner}`;
    });
    return `{${members.join(', ')}}`;
  }
  if (schema.items !== undefined) return `[${outline(schema.items)}]`;
  return schema.type === 'object' ? '{…}' : '';
}

function fields(schema: z.ZodMiniType, io: 'input' | 'output'): string {
  return fieldsOf(z.toJSONSchema(schema, { io }), io === 'input');
}

function nameOf({ method, path }: RouteSpec): string {
  return `${method} ${path}`;
}

function anchor(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_ -]/g, '')
    .replaceAll(' ', '-');
}
