// Compression as a client asks for it: offered with session.open or session.resume, used once it is agreed on.

import { deflateLink } from '../../wire/transport/deflate-link.js';
import type { Link } from '../../wire/transport/link.js';
import type { RexParams, RexResult } from './rex-methods.js';

/** `auto`: only where the connection is slower than compressing. */
export type CompressionMode = 'auto' | 'on' | 'off';

export interface CompressionOffer {
  /** To be used instead of the one that was given. */
  readonly link: Link;
  /** For the request. */
  readonly params: Pick<RexParams<'session.open'>, 'compression'>;
  /** For the answer. A server that does not know of compression has said nothing. */
  accept(answer: RexResult<'session.open'>['compression']): void;
}

/** Of one link; a client that connects again makes another. */
export function offerCompression(link: Link, mode: CompressionMode = 'off'): CompressionOffer {
  if (mode === 'off' || link.linesOnly === true) return { link, params: {}, accept: () => {} };
  const adaptive = mode === 'auto';
  const wire = deflateLink(link, true);
  return {
    link: wire.link,
    params: { compression: { algorithms: ['deflate'], adaptive } },
    accept: (answer) => {
      if (answer?.algorithm === 'deflate') wire.allow(adaptive);
    },
  };
}
