// A hub of models for tests: it lists and serves what it is given, and misbehaves as it is told.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
}

/** True when it has answered. */
type Behaviour = (req: IncomingMessage, res: ServerResponse, asked: Asked) => boolean | void;

export class FakeHub implements AsyncDisposable {
  readonly files = new Map<string, Buffer>();
  readonly asked: Asked[] = [];
  /** What a listing says beside the truth. */
  readonly listed = new Map<string, Readonly<Record<string, unknown>>>();
  behave: Behaviour = () => false;
  readonly #server = createServer((req, res) => this.#answer(req, res));

  static async start(files: Readonly<Record<string, Buffer>> = {}): Promise<FakeHub> {
    const hub = new FakeHub();
    for (const [name, bytes] of Object.entries(files)) hub.files.set(name, bytes);
    hub.#server.listen(0, '127.0.0.1');
    await once(hub.#server, 'listening');
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const asked = {
      path: req.url ?? '',
      authorization: req.headers.authorization,
      range: req.headers.range,
      ifRange: req.headers['if-range'] as string | undefined,
    };
    this.asked.push(asked);
    if (this.behave(req, res, asked) === true) return;
    const tree = /^\/api\/models\/[^/]+\/[^/]+\/tree\/main\?/.test(asked.path);
    if (tree) return sendJson(res, this.listing());
    const file = /^\/[^/]+\/[^/]+\/resolve\/main\/(.+)$/.exec(asked.path)?.[1];
    const bytes = file === undefined ? undefined : this.files.get(decodeURIComponent(file));
    if (bytes === undefined) return void res.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
    sendFile(res, bytes, asked);
  }

  listing(): object[] {
    return [...this.files].map(([path, bytes]) => ({
      type: 'file',
      path,
      size: bytes.length,
      oid: 'a'.repeat(40),
      lfs: { oid: sha256(bytes), size: bytes.length },
      ...this.listed.get(path),
    }));
  }
}

export function sendJson(res: ServerResponse, value: unknown): void {
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** As a store of files does: with a validator, and from where it was asked to begin. `upTo` cuts the connection there. */
export function sendFile(
  res: ServerResponse,
  bytes: Buffer,
  asked: Pick<Asked, 'range' | 'ifRange'>,
  upTo = Infinity,
): void {
  const etag = `"${sha256(bytes).slice(0, 16)}"`;
  const from = Number(/^bytes=(\d+)-$/.exec(asked.range ?? '')?.[1] ?? 0);
  const isPart = from > 0 && from < bytes.length && (asked.ifRange === undefined || asked.ifRange === etag);
  const start = isPart ? from : 0;
  res.writeHead(isPart ? 206 : 200, {
    etag,
    'content-length': bytes.length - start,
    ...(isPart && { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
  });
  if (upTo >= bytes.length) res.end(bytes.subarray(start));
  else res.write(bytes.subarray(start, Math.max(upTo, start)), () => res.destroy());
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
