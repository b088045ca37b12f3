// POST /exec and DELETE /exec/:request_id: one command in, three events out.

import { type EventStream, openEventStream } from '../../wire/http/event-stream.js';
import type { RequestContext } from '../../wire/http/context.js';
import { send, sendJson } from '../../wire/http/reply.js';
import type { AgentStore } from '../agents/agent-store.js';
import type { CommandOutcome } from '../runtime.js';
import type { Topic } from '../topic.js';
import { ChunkSender } from './chunk-sender.js';
import { describeOutcome, encodeOutcome, type ExecSubject } from './exec-reply.js';
import type { Executor } from './executor.js';
import { badRequest, type JsonObject, readObject, requireAgent, shorten } from './requests.js';
import type { Running } from './running.js';
import { streamHeaders } from './sse-headers.js';
import type { Waits } from './waits.js';

/** Of a client's own id for a command. */
export const MAX_REQUEST_ID_CHARS = 256;

export interface ExecParts {
  readonly agents: AgentStore;
  readonly executor: Executor;
  readonly running: Running;
  readonly waits: Waits;
}

interface Order extends ExecSubject {
  readonly topic: Topic;
}

export async function answerExec(ctx: RequestContext<unknown>, parts: ExecParts): Promise<void> {
  const agent = requireAgent(ctx, parts.agents);
  const order = readOrder(agent.id, await readObject(ctx), parts.executor);
  const answer = new ExecAnswer(ctx, order, {
    isStreamed: ctx.hasQuery && ctx.query.get('stream') === '1',
    keepAliveMs: parts.waits.execKeepAliveMs,
  });
  try {
    const outcome = await parts.executor.execute({
      surface: 'exec',
      agent,
      topic: order.topic,
      cmd: order.cmd,
      whenBusy: 'wait',
      requestId: order.requestId,
      gone: () => ctx.signal,
      onStart: () => answer.begin(),
      ...(answer.isStreamed && { emit: (chunk: string) => answer.push(chunk) }),
    });
    await answer.finish(outcome);
  } finally {
    answer.stop();
  }
}

export function cancelExec(ctx: RequestContext<{ request_id: string }>, parts: ExecParts): void {
  const agent = requireAgent(ctx, parts.agents);
  const { request_id } = ctx.params;
  sendJson(ctx, 200, { request_id, cancelled: parts.running.cancel(agent.id, request_id) });
}

/** The checks in the order of the protocol. */
function readOrder(agentId: string, body: JsonObject | undefined, executor: Executor): Order {
  if (body === undefined) throw badRequest('Invalid JSON body — expected { "cmd": "..." }');
  const { cmd, topic: raw, request_id: requestId } = body;
  if (typeof cmd !== 'string' || cmd.trim() === '')
    throw badRequest('Empty command — provide non-empty "cmd" field');
  const topic =
    raw === undefined || raw === null || typeof raw === 'string'
      ? executor.parseTopic(raw ?? undefined)
      : undefined;
  if (topic === undefined)
    throw badRequest(`Invalid topic: ${shorten(typeof raw === 'string' ? raw : JSON.stringify(raw))}`);
  return { agentId, cmd, topic, requestId: readRequestId(requestId) };
}

/** It becomes part of a line of its own. */
function readRequestId(given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  // Nothing that would end the line, or drive a terminal that shows it.
  if (typeof given !== 'string' || given.length > MAX_REQUEST_ID_CHARS || /\p{Cc}/u.test(given))
    throw badRequest(`request_id must be one line of at most ${MAX_REQUEST_ID_CHARS} characters`);
  return given;
}

/** One answer in one piece, unless the command takes long or its output is wanted as it comes. */
class ExecAnswer {
  readonly isStreamed: boolean;
  readonly #ctx: RequestContext<unknown>;
  readonly #subject: ExecSubject;
  readonly #keepAliveMs: number;
  #timer: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;
  #chunks: ChunkSender | undefined;

  constructor(
    ctx: RequestContext<unknown>,
    subject: ExecSubject,
    options: { isStreamed: boolean; keepAliveMs: number },
  ) {
    this.#ctx = ctx;
    this.#subject = subject;
    this.isStreamed = options.isStreamed;
    this.#keepAliveMs = options.keepAliveMs;
  }

  /** The command runs: from here on the status is 200. */
  begin(): void {
    if (this.isStreamed) this.#chunks = new ChunkSender(this.#open());
    else this.#timer = setTimeout(() => this.#open(), this.#keepAliveMs);
  }

  push(chunk: string): void {
    this.#chunks?.push(chunk);
  }

  async finish(outcome: CommandOutcome): Promise<void> {
    this.stop();
    const events = describeOutcome(this.#subject, outcome);
    if (this.#stream === undefined) {
      send(this.#ctx, 200, 'text/event-stream', encodeOutcome(events), streamHeaders(this.#ctx.res));
      return;
    }
    await this.#chunks?.drained();
    for (const event of ['head', 'content', 'done'] as const)
      await this.#stream.send({ event, data: events[event] });
    await this.#stream.close();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #open(): EventStream {
    this.#stream ??= openEventStream(this.#ctx, {
      headers: streamHeaders(this.#ctx.res),
      keepAliveMs: this.#keepAliveMs,
      maxQueueBytes: Number.POSITIVE_INFINITY, // each event waits for the one before
    });
    return this.#stream;
  }
}
