// A bridge as a client of another make would meet it: raw lines in two envelopes, no code shared with the bridge.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bin, Program } from '../../helpers/program.js';
import { removeFolder } from '../../helpers/remove-folder.js';

export interface Answer {
  readonly id: unknown;
  readonly ok: boolean;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: string; readonly message: string; readonly data?: unknown };
}

export interface BridgeEvent {
  readonly event: string;
  readonly id: unknown;
  readonly data: Record<string, unknown>;
}

export class HugindUnderTest extends Program {
  readonly home: string;
  /** What came before the answer that was waited for. */
  readonly events: BridgeEvent[] = [];
  readonly #base: string;
  #lastId = 0;

  constructor(base: string, env: Readonly<Record<string, string>>) {
    const home = join(base, 'home');
    super([process.execPath, bin('hugind'), 'stdio'], {
      env: { HUGIND_HOME: home, HF_TOKEN: undefined, HF_ENDPOINT: 'http://127.0.0.1:1', ...env },
      cwd: base,
    });
    this.home = home;
    this.#base = base;
  }

  send(message: object): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  async next(): Promise<Record<string, unknown>> {
    return JSON.parse((await this.line()) ?? 'null') as Record<string, unknown>;
  }

  /** The next answer in NDJSON, whatever events come before it. */
  async answer(): Promise<Answer> {
    for (;;) {
      const message = await this.next();
      expect(message).toMatchObject({ schema_version: '1' });
      if (!('event' in message)) return message as unknown as Answer;
      this.events.push(message as unknown as BridgeEvent);
    }
  }

  async call(method: string, params?: unknown): Promise<Answer> {
    const id = `r${++this.#lastId}`;
    this.send({ id, method, params });
    const answer = await this.answer();
    expect(answer.id).toBe(id);
    expect('result' in answer, 'exactly one of result and error').toBe(answer.ok);
    return answer;
  }

  /** The result of a call that must succeed. */
  async ask(method: string, params?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.call(method, params);
    expect(answer.error, method).toBeUndefined();
    return answer.result ?? {};
  }

  /** The code of a call that must fail. */
  async refused(method: string, params?: unknown): Promise<string | undefined> {
    return (await this.call(method, params)).error?.code;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    removeFolder(this.#base);
  }
}

export function startHugind(env: Readonly<Record<string, string>> = {}): HugindUnderTest {
  return new HugindUnderTest(mkdtempSync(join(tmpdir(), 'hawser-hugind-')), env);
}
