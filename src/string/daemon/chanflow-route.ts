// POST /chanflow: a turn in, the same turn out with an answer in the place of each block of our channel.

import { decodeChanFlow, type Segment } from '../../wire/chanflow/decode.js';
import { readBody } from '../../wire/http/body.js';
import type { RequestContext } from '../../wire/http/context.js';
import { HttpError } from '../../wire/http/errors.js';
import { sendText } from '../../wire/http/reply.js';
import type { AgentStore } from '../agents/agent-store.js';
import { answerTurn, CHANNEL, MAX_TURN_BLOCKS, type RunBlock } from '../chanflow/answer.js';
import { fail } from '../result.js';
import type { AgentPlace } from '../services.js';
import type { Executor } from './executor.js';
import { badRequest, decode, requireAgent } from './requests.js';

export interface ChanFlowParts {
  readonly agents: AgentStore;
  readonly executor: Executor;
}

export async function answerChanFlow(ctx: RequestContext<unknown>, parts: ChanFlowParts): Promise<void> {
  const agent = requireAgent(ctx, parts.agents);
  const turn = readTurn(await readBody(ctx));
  const run = runner(agent, ctx, parts.executor);
  sendText(ctx, 200, await answerTurn(turn, { run, topics: parts.executor.topicOptions }));
}

/** Refused before anything is executed, or not at all. */
function readTurn(bytes: Buffer): Segment[] {
  let text: string;
  try {
    text = decode(bytes);
  } catch {
    throw badRequest('the request body is not valid UTF-8');
  }
  const turn = decodeChanFlow(CHANNEL, text);
  const blocks = turn.filter(({ kind }) => kind !== 'outside');
  if (blocks.length > MAX_TURN_BLOCKS)
    throw badRequest(`at most ${MAX_TURN_BLOCKS} blocks can be sent at once`);
  return turn;
}

/** When the client leaves, the running command is called off, and those after it are not begun. */
function runner(agent: AgentPlace, ctx: RequestContext<unknown>, executor: Executor): RunBlock {
  const { signal } = ctx;
  return async (topic, cmd) => {
    signal.throwIfAborted();
    try {
      return await executor.execute({
        surface: 'chanflow',
        agent,
        topic,
        cmd,
        whenBusy: 'wait',
        gone: () => signal,
        signal,
      });
    } catch (thrown) {
      if (!(thrown instanceof HttpError)) throw thrown;
      const code = thrown.code === 'QUEUE_FULL' || thrown.code === 'QUEUE_TIMEOUT' ? thrown.code : 'BUSY';
      return { topic, result: fail(code, thrown.message) };
    }
  };
}
