// Compression as session.open and session.resume agree on it: of the whole connection, in both directions.

import * as z from 'zod/mini';
import { MAX_ALGORITHMS } from './open-bounds.js';

export const CompressionRequest = z.optional(
  z.object({
    /** Those the client knows, the one it likes best first. */
    algorithms: z.array(z.string()).check(z.maxLength(MAX_ALGORITHMS)),
    /** Only where the connection is slower than compressing would be. */
    adaptive: z._default(z.boolean(), true),
  }),
);

/** Built by those who ask for it: no answer of ours is checked on its way out. */
export function compressionAnswer() {
  return z.optional(
    z.object({
      /** With deflate either side may begin when it likes, with the line {"jsonrpc":"2.0","method":"session.deflate"}. */
      algorithm: z.enum(['deflate', 'none']),
      adaptive: z.boolean(),
    }),
  );
}

/** What has become of it so far. */
export function compressionState() {
  return z.object({
    algorithm: z.enum(['deflate', 'none']),
    adaptive: z.boolean(),
    /** 0 while what is sent is plain. */
    level: z.int(),
    /** What the server has sent since it was agreed, before compressing and after. */
    bytes_before: z.int(),
    bytes_sent: z.int(),
  });
}
