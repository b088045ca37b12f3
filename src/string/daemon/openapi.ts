// The protocol as an OpenAPI 3.1 document, written from the route table.

import * as z from 'zod/mini';
import { VERSION } from '../../base/version.js';
import { AGENT_HEADER, type Answer, ROUTES, type RouteSpec } from '../protocol.js';

type Json = Readonly<Record<string, unknown>>;

export function describeApi(url: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [id, route] of Object.entries<RouteSpec>(ROUTES)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = describeRoute(id, route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'stringd',
      version: VERSION,
      description: 'The daemon of String: agents, topics, commands, events. Loopback only.',
    },
    servers: [{ url }],
    paths,
  };
}

function describeRoute(id: string, route: RouteSpec): Json {
  const answers: [number, Answer][] = Object.entries(route.answers).map(([status, answer]) => [
    Number(status),
    answer,
  ]);
  return {
    operationId: id,
    summary: route.summary,
    ...(route.extension === true && { 'x-extension': true }),
    parameters: describeParameters(route),
    ...(route.body !== undefined && {
      requestBody: { required: true, content: describeBody(route.body) },
    }),
    responses: Object.fromEntries(answers.map(([status, answer]) => [status, describeAnswer(answer)])),
  };
}

function describeParameters({ path, query = {}, agent }: RouteSpec): Json[] {
  const text = { type: 'string' };
  return [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text })),
    ...Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema: text })),
    ...(agent === undefined
      ? []
      : [{ name: AGENT_HEADER, in: 'header', required: agent === 'required', schema: text }]),
  ];
}

function describeBody(body: NonNullable<RouteSpec['body']>): Json {
  if ('type' in body) return { [body.type]: { schema: { type: 'string' } } };
  return { 'application/json': { schema: schemaOf(body.json, 'input') } };
}

function describeAnswer({ when, json, type, events }: Answer): Json {
  const content = {
    ...(json !== undefined && { 'application/json': { schema: schemaOf(json, 'output') } }),
    ...(type !== undefined && { [type]: { schema: { type: 'string' } } }),
    ...(events !== undefined && {
      'text/event-stream': {
        schema: { type: 'string' },
        'x-events': Object.fromEntries(
          Object.entries(events).map(([name, data]) => [name, schemaOf(data, 'output')]),
        ),
      },
    }),
  };
  return { description: when, ...(Object.keys(content).length > 0 && { content }) };
}

function schemaOf(schema: z.ZodMiniType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io }) as Record<string, unknown>;
  return rest;
}
