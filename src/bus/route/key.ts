// The bytes by which an id or a session is known: its token as it stands, or the one spelling of a token with several.

import type { Token } from '../scan/fields.js';
import { canonicalToken, hashToken } from '../scan/tokens.js';

/** Points into the block that is being read; used again for the next message. */
export class Key {
  bytes: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;
  hash = 0;

  /** False when there is no such field. */
  take(bytes: Buffer, token: Token): boolean {
    if (token.start < 0) return false;
    if (token.plain) {
      this.bytes = bytes;
      this.start = token.start;
      this.end = token.end;
      this.hash = token.hash;
    } else this.set(canonicalToken(bytes, token.start, token.end));
    return true;
  }

  set(bytes: Buffer): this {
    this.bytes = bytes;
    this.start = 0;
    this.end = bytes.length;
    this.hash = hashToken(bytes, 0, bytes.length);
    return this;
  }

  copy(): Buffer {
    return Buffer.from(this.bytes.subarray(this.start, this.end));
  }
}
