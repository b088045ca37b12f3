// docs/protocol/hugind.md: the methods, events and errors of the bridge, written from its tables.

import * as z from 'zod/mini';
import { ERRORS } from '../src/hugind/errors.js';
import { CONTROL_METHODS, EVENTS, METHODS } from '../src/hugind/protocol.js';
import type { BridgeMethod } from '../src/hugind/protocol/define.js';
import { fieldsOf, tableOf } from './protocol-page.js';

const code = (text: string): string => `\`${text}\``;

export function renderHugindPage(): string {
  const methods: readonly BridgeMethod[] = [...Object.values(METHODS), ...Object.values(CONTROL_METHODS)];
  return [
    '# The hugind bridge',
    'Written by `npm run docs` from `src/hugind/protocol.ts`; do not edit. `docs/guide/hugind.md` tells how it is used, and which methods are not there yet.',
    '## Methods',
    'Each is a request in NDJSON, and, but for `request.cancel`, a tool of MCP by the same name (`model_list` is `model.list`).',
    tableOf(
      ['method', 'what it does'],
      methods.map(({ name, summary }) => [`[${code(name)}](#${name.replaceAll('.', '')})`, summary]),
    ),
    ...methods.flatMap((method) => renderMethod(method)),
    '## Events',
    'In NDJSON `{"event", "id", "data", "schema_version"}`; over MCP `notifications/hugind.<event>` with the fields of `data` and `id` as params, and for `agent_event` `{id, event, data}`.',
    ...Object.entries(EVENTS).flatMap(([name, { summary, params }]) => [
      `### ${name}`,
      summary,
      fieldsOf(z.toJSONSchema(params, { io: 'output' }), false),
    ]),
    '## Errors',
    'In NDJSON `error.code`; over MCP a result with `isError` and `{"error": {"code", "message"}}`. Every method may answer `invalid_params`, `cancelled` and `internal_error`.',
    tableOf(
      ['code', 'when'],
      Object.entries(ERRORS).map(([name, when]) => [code(name), when]),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

function renderMethod({ name, summary, params, result, errors, events }: BridgeMethod): string[] {
  return [
    `## ${name}`,
    summary,
    '**Params**',
    fieldsOf(z.toJSONSchema(params, { io: 'input' }), true),
    '**Result**',
    fieldsOf(z.toJSONSchema(result, { io: 'output' }), false),
    ...(events.length === 0 ? [] : [`**Events** ${events.map(code).join(', ')}`]),
    ...(errors.length === 0 ? [] : [`**Errors** ${errors.map(code).join(', ')}`]),
  ];
}
