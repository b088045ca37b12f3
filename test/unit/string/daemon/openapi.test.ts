import { expect, test } from 'vitest';
import { describeApi } from '../../../../src/string/daemon/openapi.js';
import { ROUTES, type RouteSpec } from '../../../../src/string/protocol.js';
import { openDaemon } from './daemon-place.js';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { name: string; in: string }[];
  readonly responses: Record<string, unknown>;
}

test('every route of the table is an operation with all its params and answers', () => {
  const { openapi, paths } = describeApi('http://127.0.0.1:3923') as {
    openapi: string;
    paths: Record<string, Record<string, Operation>>;
  };
  expect(openapi).toBe('3.1.0');
  for (const [id, route] of Object.entries<RouteSpec>(ROUTES)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const operation = paths[path]?.[route.method.toLowerCase()];
    expect(operation?.operationId).toBe(id);
    expect(Object.keys(operation?.responses ?? {})).toEqual(Object.keys(route.answers));
    const inPath = operation?.parameters.filter((each) => each.in === 'path').map(({ name }) => `{${name}}`);
    expect(inPath).toEqual(path.match(/\{\w+\}/g) ?? []);
  }
});

test('the daemon serves it, and its numbers', async () => {
  await using place = await openDaemon();
  expect((await place.ask('/openapi.json')).json).toMatchObject({ servers: [{ url: place.url }] });
  await place.exec('main', '/info');
  const { text, headers } = await place.ask('/metrics');
  expect(headers['content-type']).toMatch(/^text\/plain/);
  expect(text).toMatch(/^stringd_commands_total\{surface="exec",outcome="ok"\} 1$/m);
  expect(text).toMatch(/^stringd_agents 1$/m);
  const again = await place.ask('/metrics');
  expect(again.text).toMatch(/^stringd_commands_total\{surface="exec",outcome="ok"\} 1$/m);
});
