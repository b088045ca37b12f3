// A daemon that says what a test wants it to say, in the place of fetch.

import { vi } from 'vitest';
import type { Fetch } from '../../../../src/client/string/http-daemon.js';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

type Answers = (asked: Asked) => Response | Promise<Response> | undefined;

/** What `answers` does not know is answered as a daemon in good health would. */
export function scriptedFetch(answers: Answers = () => undefined): Fetch & { readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch: Fetch = async (url, init) => {
    const { pathname, search } = new URL(url);
    const one: Asked = {
      method: init.method ?? 'GET',
      path: pathname + search,
      headers: { ...(init.headers as Record<string, string>) },
      body: init.body as string | undefined,
      signal: init.signal as AbortSignal,
    };
    asked.push(one);
    one.signal.throwIfAborted();
    return (await answers(one)) ?? wellKnown(one);
  };
  return Object.assign(fetch, { asked });
}

/** The body in the given pieces, then its end, unless it is to break or to stay open. */
export function stream(
  pieces: readonly (string | Uint8Array)[],
  end: 'close' | 'break' | 'open' = 'close',
  signal?: AbortSignal,
): Response {
  const utf8 = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? utf8.encode(piece) : piece);
      if (end === 'close') controller.close();
      if (end === 'open') signal?.addEventListener('abort', () => controller.error(signal.reason));
    },
    pull(controller) {
      if (end === 'break') controller.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { status: 200, headers: { 'Content-Type': 'text/event-stream' } });
}

export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

export const HEAD = {
  ok: true,
  code: null,
  cmd: '/info',
  request_id: 'r1',
  agent_id: 'default',
  topic: 'main',
  topic_type: 'tab',
  meta: null,
};

/** What `fetch` throws when nobody listens, and what when the connection is cut. */
export function fetchFailed(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(`connect ${code}`), { code }) });
}

/** A promise that never settles but by the signal. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

export function withFakeTimers(body: () => Promise<void>): () => Promise<void> {
  return async () => {
    vi.useFakeTimers();
    try {
      await body();
    } finally {
      vi.useRealTimers();
    }
  };
}

function wellKnown({ method, path, body }: Asked): Response {
  if (path === '/health') return Response.json({ ok: true, agents: 1, sessions: 0, version: '0.1.0' });
  if (method === 'POST' && path === '/agents')
    return Response.json({ ...(JSON.parse(body ?? '{}') as object), home: '/h', created: true });
  if (method === 'DELETE' && path.startsWith('/exec/'))
    return Response.json({ request_id: path.slice(6), cancelled: true });
  if (path === '/exec' || path === '/exec?stream=1')
    return stream([event('head', HEAD), event('content', 're: [r1] /info\nfine'), event('done', {})]);
  return Response.json({ error: `Not found: ${method} ${path}` }, { status: 404 });
}
