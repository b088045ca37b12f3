// A REXD server as a client of another make would meet it: raw lines, no code shared with the server.

import { expect } from 'vitest';
import { Program } from '../../helpers/program.js';
import { expectDeclared } from './declared-errors.js';
import { type Grounds, makeGrounds, rexdCommand } from './target.js';

export interface Answer {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export class RexdUnderTest extends Program {
  readonly grounds: Grounds;
  #lastId = 0;

  constructor(grounds: Grounds, env: Readonly<Record<string, string>> = {}) {
    super(rexdCommand(grounds), { env: { XDG_STATE_HOME: grounds.state, ...env } });
    this.grounds = grounds;
  }

  /** One raw line out, the next line of the server back, checked to be JSON-RPC whatever else it is. */
  async exchange(line: string): Promise<Answer> {
    this.write(`${line}\n`);
    return await this.answer();
  }

  async answer(): Promise<Answer> {
    const text = await this.line();
    const answer = JSON.parse(text ?? 'null') as Answer;
    expect(answer).toMatchObject({ jsonrpc: '2.0' });
    expect('result' in answer, 'exactly one of result and error').not.toBe('error' in answer);
    return answer;
  }

  async call(method: string, params?: unknown): Promise<Answer> {
    const id = ++this.#lastId;
    const answer = await this.exchange(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    expect(answer.id).toBe(id);
    expectDeclared(method, answer.error?.code);
    return answer;
  }

  /** The result of a call that must succeed. */
  async ask(method: string, params?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.call(method, params);
    expect(answer.error, method).toBeUndefined();
    return answer.result ?? {};
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.grounds[Symbol.dispose]();
  }
}

export function startRexd(limits: Readonly<Record<string, number>> = {}): RexdUnderTest {
  return new RexdUnderTest(makeGrounds(limits));
}
