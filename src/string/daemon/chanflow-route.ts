// POST /chanflow: text with blocks in, for each block of our channel a block of answer out.

import { decodeChanFlow, type Segment } from '../../wire/chanflow/decode.js';
import { readBody } from '../../wire/http/body.js';
import type { RequestContext } from '../../wire/http/context.js';
import { HttpError } from '../../wire/http/errors.js';
import { sendText } from '../../wire/http/reply.js';
import type { AgentStore } from '../agents/agent-store.js';
import { answerSegment, CHANNEL, MAX_TURN_BLOCKS, type RunBlock } from '../chanflow/answer.js';
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
  const blocks = readBlocks(await readBody(ctx));
  const run = runner(agent, ctx, parts.executor);
  const answers: string[] = [];
  // One after the other: the second may rely on what the first has done.
  for (const block of blocks)
    answers.push(await answerSegment(block, { run, topics: parts.executor.topicOptions }));
  sendText(ctx, 200, answers.map((answer) => `${answer}\n`).join('\n'));
}

/** What is of other channels, or of none, is not ours to answer. */
function readBlocks(bytes: Buffer): Segment[] {
  let text: string;
  try {
    text = decode(bytes);
  } catch {
    throw badRequest('the request body is not valid UTF-8');
  }
  const blocks = decodeChanFlow(CHANNEL, text).filter(({ kind }) => kind !== 'outside');
  if (blocks.length > MAX_TURN_BLOCKS)
    throw badRequest(`at most ${MAX_TURN_BLOCKS} blocks can be sent at once`);
  return blocks;
}

function runner(agent: AgentPlace, ctx: RequestContext<unknown>, executor: Executor): RunBlock {
  return async (topic, cmd) => {
    try {
      return await executor.execute({
        surface: 'chanflow',
        agent,
        topic,
        cmd,
        whenBusy: 'wait',
        gone: () => ctx.signal,
      });
    } catch (thrown) {
      if (!(thrown instanceof HttpError)) throw thrown;
      return { topic, result: fail('BUSY', thrown.message) };
    }
  };
}
