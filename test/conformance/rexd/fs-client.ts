// A session for tests of fs.*: calls carry its id, files are made and looked at behind the server's back.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type Answer, type RexdUnderTest, startRexd } from '../kit/rexd-under-test.js';

export class FilesUnderTest implements AsyncDisposable {
  readonly rexd: RexdUnderTest;
  readonly root: string;
  readonly session: string;

  constructor(rexd: RexdUnderTest, session: string) {
    this.rexd = rexd;
    this.root = rexd.grounds.root;
    this.session = session;
  }

  async call(method: string, params: object): Promise<Answer> {
    return await this.rexd.call(method, { session_id: this.session, ...params });
  }

  async ask(method: string, params: object): Promise<Record<string, unknown>> {
    return await this.rexd.ask(method, { session_id: this.session, ...params });
  }

  /** The error of a call that must fail. */
  async refusal(method: string, params: object): Promise<{ code: number; message: string; data?: unknown }> {
    const { error } = await this.call(method, params);
    expect(error, `${method} ${JSON.stringify(params)}`).toBeDefined();
    return error ?? { code: 0, message: '' };
  }

  /** How long the line of the answer is. */
  async answerBytes(method: string, params: object): Promise<{ bytes: number; answer: Answer }> {
    const message = { jsonrpc: '2.0', id: 'long', method, params: { session_id: this.session, ...params } };
    this.rexd.write(`${JSON.stringify(message)}\n`);
    const line = (await this.rexd.line()) ?? '';
    return { bytes: Buffer.byteLength(line), answer: JSON.parse(line) as Answer };
  }

  /** The path of a file that now has this content. */
  put(name: string, content: string | Uint8Array = ''): string {
    const path = join(this.root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rexd[Symbol.asyncDispose]();
  }
}

export async function startFiles(
  limits: Readonly<Record<string, number>> = {},
  open: object = {},
): Promise<FilesUnderTest> {
  const rexd = startRexd(limits);
  const { session_id } = await rexd.ask('session.open', { client_name: 't', ...open });
  return new FilesUnderTest(rexd, session_id as string);
}
