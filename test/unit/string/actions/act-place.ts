// A page with actions in a topic, and a server that says what it was asked.

import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { CommandOutcome } from '../../../../src/string/runtime.js';
import { makePlace, type Place } from '../place.js';

export interface ActPlace extends Place {
  /** Opens it in `main`. */
  page(text: string, name?: string): Promise<void>;
  act(cmd: string): Promise<CommandOutcome>;
  file(name: string, text: string): string;
}

export function makeActPlace(options: Parameters<typeof makePlace>[0] = {}): ActPlace {
  const place = makePlace(options);
  const file = (name: string, text: string): string => {
    const path = join(place.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  return Object.assign(place, {
    file,
    act: (cmd: string) => place.run('main', cmd),
    page: async (text: string, name = 'page.md') => {
      file(name, text);
      const { ok, content } = await place.run('main', `/open ~/${name}`);
      if (!ok) throw new Error(content);
    },
  });
}

export function fence(id: string, ...lines: string[]): string {
  return ['```act.' + id, ...lines, '```', ''].join('\n');
}

export interface Echo extends AsyncDisposable {
  readonly url: string;
  readonly seen: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[];
}

/** Answers with what `reply` makes of a request, else with the request itself. */
export async function startEcho(
  reply?: (seen: Echo['seen'][number], response: ServerResponse) => boolean,
): Promise<Echo> {
  const seen: Echo['seen'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body: Buffer.concat(chunks).toString('utf8') };
      seen.push(one);
      if (reply?.(one, response) === true) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ method, path, body: one.body }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
