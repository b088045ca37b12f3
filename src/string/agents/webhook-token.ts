// Webhook tokens: made, and found again without telling by the time it takes how near a guess was.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 24;
/** Longest token that is looked at. Ours have 35 characters. */
export const MAX_TOKEN_CHARS = 128;

export function newWebhookToken(): string {
  return `wh_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
}

/** Whose token is whose. Kept by digest: what a lookup could leak of a digest says nothing about the token. */
export class TokenIndex {
  readonly #agents = new Map<string, { readonly digest: Buffer; readonly agentId: string }>();

  set(token: string, agentId: string): void {
    const digest = digestOf(token);
    this.#agents.set(digest.toString('latin1'), { digest, agentId });
  }

  delete(token: string): void {
    this.#agents.delete(digestOf(token).toString('latin1'));
  }

  find(token: string): string | undefined {
    if (token.length > MAX_TOKEN_CHARS) return undefined;
    const digest = digestOf(token);
    const found = this.#agents.get(digest.toString('latin1'));
    return found !== undefined && timingSafeEqual(found.digest, digest) ? found.agentId : undefined;
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
