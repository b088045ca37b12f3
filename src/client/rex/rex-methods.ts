// The client's types, all read from REXD's method table: nothing about a method is written twice.

import type { METHODS } from '../../rexd/protocol.js';
import type { RequestOf, ResultOf } from '../../wire/jsonrpc/method.js';

type Definition = (typeof METHODS)[keyof typeof METHODS];

export type RexMethod = Definition['name'];
type DefinitionOf<Name extends RexMethod> = Extract<Definition, { readonly name: Name }>;

/** What a caller writes: the client knows its session itself. */
export type RexParams<Name extends RexMethod> = Omit<RequestOf<DefinitionOf<Name>>, 'session_id'>;
export type RexResult<Name extends RexMethod> = ResultOf<DefinitionOf<Name>>;
