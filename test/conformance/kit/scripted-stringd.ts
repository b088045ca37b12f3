// A stringd that answers as a test tells it to, and notes what it was asked: for clients under test.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface AskedOf {
  readonly what: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type AnswerExec = (res: ServerResponse, nth: number) => void;

export class ScriptedStringd implements AsyncDisposable {
  readonly asked: AskedOf[] = [];
  connections = 0;
  readonly #server: Server;

  static async start(answerExec: AnswerExec): Promise<ScriptedStringd> {
    const stringd = new ScriptedStringd(answerExec);
    await new Promise<void>((resolve) => stringd.#server.listen(0, '127.0.0.1', resolve));
    return stringd;
  }

  private constructor(answerExec: AnswerExec) {
    let nth = 0;
    const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
      const what = `${req.method} ${req.url}`;
      this.asked.push({ what, headers: req.headers, body: await text(req) });
      if (what === 'POST /exec') answerExec(res, nth++);
      else sendJson(res, 200, ANSWERS[what] ?? {});
    };
    this.#server = createServer((req, res) => void answer(req, res));
    this.#server.on('connection', () => (this.connections += 1));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get commands(): readonly AskedOf[] {
    return this.asked.filter(({ what }) => what === 'POST /exec');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

export function beginEvents(res: ServerResponse): ServerResponse {
  return res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
}

const ANSWERS: Readonly<Record<string, unknown>> = {
  'GET /health': { ok: true, agents: 1, sessions: 3 },
  'POST /agents': { agent_id: 'me', home: '/home/me', created: true },
  'POST /shutdown': { ok: true, message: 'stringd shutting down' },
};
