// What makes a session one that can be resumed: a secret, its events, its answers.

import { randomBytes } from 'node:crypto';
import { isSameToken } from '../../guard/bearer.js';
import { Journal } from './journal.js';
import { KeptAnswers } from './kept-answers.js';

const TOKEN_BYTES = 32;

export class Resumption {
  /** Told once, in the answer that opens the session; never written down. */
  readonly token = randomBytes(TOKEN_BYTES).toString('hex');
  readonly windowMs: number;
  readonly journal = new Journal();
  readonly answers = new KeptAnswers();

  constructor(windowMs: number) {
    this.windowMs = windowMs;
  }

  accepts(token: string): boolean {
    return isSameToken(token, this.token);
  }

  /** The session is ending. */
  finish(reason: Error): void {
    this.answers.stop(reason);
    this.journal.finish();
  }
}
