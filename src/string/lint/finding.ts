// One thing that is wrong with a document, and where.

import type { Page } from '../document/page.js';

export interface Finding {
  /** From 1. */
  readonly line: number;
  readonly code: string;
  readonly message: string;
}

/** Of a key of the frontmatter; its first line when it is written in another way. */
export function lineOfKey({ source, lines }: Page, key: string): number {
  const at = lines.findIndex((line) => line.frontmatter && source.startsWith(`${key}:`, line.start));
  return at === -1 ? 1 : at + 1;
}
