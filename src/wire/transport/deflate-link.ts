// A link both of whose directions may be compressed, once both sides have agreed to it.

import { DeflateSink, type DeflateTotals } from './deflate-sink.js';
import { InflateSource } from './inflate-source.js';
import type { Link } from './link.js';

export interface DeflateLink {
  readonly link: Link;
  /** The other side may compress from here on. */
  expect(): void;
  /** We do, when it is worth it; with `adaptive` unless the link is faster than compressing. */
  allow(adaptive: boolean): void;
  readonly totals: DeflateTotals;
}

/** Plain in both directions until told otherwise. With `expecting` what comes may be compressed from the first byte. */
export function deflateLink(link: Link, expecting = false): DeflateLink {
  const input = new InflateSource(link.input, expecting);
  const output = new DeflateSink(link.output);
  const { writeNow } = link;
  return {
    link: {
      name: link.name,
      input,
      output,
      ...(writeNow !== undefined && { writeNow: (bytes) => output.writeNow(bytes, writeNow) }),
      close: async () => {
        await link.close();
        input.dispose();
        output.dispose();
      },
    },
    expect: () => input.watch(),
    allow: (adaptive) => output.allow(adaptive),
    get totals() {
      return output.totals;
    },
  };
}
