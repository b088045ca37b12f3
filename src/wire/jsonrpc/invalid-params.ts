// The answer to params of the wrong shape: -32602, with a message that names the first field that is wrong.

import { RpcError } from '../../base/errors.js';
import { type FieldIssue, sayIssue } from '../../base/schema-issues.js';
import { INVALID_PARAMS } from './message.js';

export function invalidParams(issues: readonly FieldIssue[]): RpcError {
  const [first = { path: '', message: 'is not valid' }] = issues;
  return new RpcError(INVALID_PARAMS, sayIssue(first, 'params'), { data: { issues } });
}
