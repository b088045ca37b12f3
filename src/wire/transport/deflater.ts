// One deflate stream, block by block: each is given out whole, so that the other side can read all of it at once.

import { constants, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { ClosedError } from '../../base/resource.js';

export class Deflater {
  readonly #stream: DeflateRaw;
  #parts: Buffer[] = [];

  constructor(level: number) {
    this.#stream = createDeflateRaw({ level, chunkSize: 64 * 1024 });
    this.#stream.on('data', (part: Buffer) => void this.#parts.push(part));
    this.#stream.on('error', () => {}); // told to whoever waits
  }

  async deflate(raw: Buffer): Promise<Buffer> {
    return await this.#take((done) => {
      this.#stream.write(raw);
      this.#stream.flush(constants.Z_SYNC_FLUSH, done);
    });
  }

  async setLevel(level: number): Promise<Buffer> {
    return await this.#take((done) => this.#stream.params(level, constants.Z_DEFAULT_STRATEGY, done));
  }

  /** The end of the stream. */
  async finish(): Promise<Buffer> {
    return await this.#take((done) => {
      this.#stream.once('end', done);
      this.#stream.end();
    });
  }

  /** Whoever waits is told. */
  close(): void {
    this.#stream.close();
  }

  #take(begin: (done: () => void) => void): Promise<Buffer> {
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        stream.off('error', fail);
        stream.off('close', lose);
        act();
      };
      const fail = (error: Error): void => settle(() => reject(error));
      const lose = (): void => settle(() => reject(new ClosedError('compressor')));
      stream.once('error', fail);
      stream.once('close', lose);
      begin(() => settle(() => resolve(Buffer.concat(this.#parts.splice(0)))));
    });
  }
}
