// One table of tools, several forms of it.

import { expect, test } from 'vitest';
import {
  DEFAULT_COMMAND_MS,
  MAX_READ_LINES,
  REX_TOOLS,
} from '../../../../src/client/rex/tools/definitions.js';
import { anthropicTools, openAiChatTools, openAiTools } from '../../../../src/client/rex/tools.js';
import { describeTool } from '../../../../src/mcp/server.js';

const mcp = REX_TOOLS.map(describeTool);
const NAMES = ['bash', 'read', 'write', 'edit', 'list', 'glob', 'search'];

test('every form has the same names, descriptions and schemas', () => {
  const base = mcp.map(({ name, description, inputSchema }) => [name, description, inputSchema]);
  expect(mcp.map(({ name }) => name)).toEqual(NAMES);
  expect(openAiTools().map((t) => [t.name, t.description, t.parameters])).toEqual(base);
  expect(openAiChatTools().map(({ function: f }) => [f.name, f.description, f.parameters])).toEqual(base);
  expect(anthropicTools().map((t) => [t.name, t.description, t.input_schema])).toEqual(base);
});

test('all that tools/list says is below 4 KB', () => {
  expect(Buffer.byteLength(JSON.stringify({ tools: mcp }))).toBeLessThan(4096);
});

test('schemas are plain JSON Schema of an object, and name a type for every argument', () => {
  for (const { inputSchema } of mcp) {
    expect(inputSchema.type).toBe('object');
    expect(Object.keys(inputSchema)).not.toContain('$schema');
    for (const field of Object.values(inputSchema.properties ?? {})) expect(field).toHaveProperty('type');
  }
});

test('nothing in them is a target: that is not for a model to choose', () => {
  expect(mcp.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}))).not.toContain('target');
});

test('what only looks says so, for whoever asks a person first', () => {
  const readOnly = mcp.filter(({ annotations }) => annotations?.readOnlyHint === true);
  expect(readOnly.map(({ name }) => name)).toEqual(['read', 'list', 'glob', 'search']);
});

test('the bounds that a model has to know are told', () => {
  const text = JSON.stringify(mcp);
  expect([text.includes(String(DEFAULT_COMMAND_MS)), text.includes(String(MAX_READ_LINES))]).toEqual([
    true,
    true,
  ]);
});

test('an alias never has the name of an argument, and always means one', () => {
  for (const tool of REX_TOOLS) {
    const fields = Object.keys(tool.input.shape);
    const aliases = Object.entries(tool.aliases ?? {});
    expect(aliases.filter(([, field]) => !fields.includes(field))).toEqual([]);
    expect(aliases.filter(([alias]) => fields.includes(alias))).toEqual([]);
  }
});
