// The file as the caller last saw it, for writes that must not undo somebody else's.

import type { Expectation } from '../../host/files/expectation.js';

export function expectationOf(params: {
  readonly expected_mtime?: number | undefined;
  readonly expected_sha256?: string | undefined;
}): { readonly expect?: Expectation } {
  const { expected_mtime: mtimeMs } = params;
  const sha256 = params.expected_sha256?.toLowerCase();
  if (mtimeMs === undefined && sha256 === undefined) return {};
  return { expect: { ...(mtimeMs !== undefined && { mtimeMs }), ...(sha256 !== undefined && { sha256 }) } };
}
