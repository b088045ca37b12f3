// POST /chanflow: text with blocks in, for each block of our channel a block of answer out.

import { decodeChanFlow, type Segment } from '../../wire/chanflow/decode.js';
import { encodeBlock } from '../../wire/chanflow/encode.js';
import { readBody } from '../../wire/http/body.js';
import type { RequestContext } from '../../wire/http/context.js';
import { ClientGoneError, HttpError } from '../../wire/http/errors.js';
import { sendText } from '../../wire/http/reply.js';
import type { AgentStore } from '../agents/agent-store.js';
import { type CommandResult, fail, renderFeedback } from '../result.js';
import type { AgentPlace } from '../services.js';
import type { Executor } from './executor.js';
import { badRequest, decode, requireAgent, shorten } from './requests.js';

/** Blocks answered in one request. */
export const MAX_CHANFLOW_BLOCKS = 256;
const CHANNEL = 'string';
const DEFAULT_TOPIC = 'main';

export interface ChanFlowParts {
  readonly agents: AgentStore;
  readonly executor: Executor;
}

export async function answerChanFlow(ctx: RequestContext<unknown>, parts: ChanFlowParts): Promise<void> {
  const agent = requireAgent(ctx, parts.agents);
  const blocks = readBlocks(await readBody(ctx));
  const answers: string[] = [];
  // One after the other: the second may rely on what the first has done.
  for (const block of blocks) answers.push(await answerBlock(block, agent, ctx, parts.executor));
  sendText(ctx, 200, answers.map((answer) => `${answer}\n`).join('\n'));
}

type Block = Exclude<Segment, { kind: 'outside' }>;

function readBlocks(bytes: Buffer): Block[] {
  let text: string;
  try {
    text = decode(bytes);
  } catch {
    throw badRequest('the request body is not valid UTF-8');
  }
  const blocks = decodeChanFlow(CHANNEL, text).filter((segment) => segment.kind !== 'outside');
  if (blocks.length > MAX_CHANFLOW_BLOCKS)
    throw badRequest(`at most ${MAX_CHANFLOW_BLOCKS} blocks can be sent at once`);
  return blocks;
}

async function answerBlock(
  block: Block,
  agent: AgentPlace,
  ctx: RequestContext<unknown>,
  executor: Executor,
): Promise<string> {
  const result = await run(block, agent, ctx, executor);
  const edited = result.ok && result.change !== undefined;
  // The caller's own spelling, so that the answer can be told from others.
  const topic =
    executor.parseTopic(block.topic) === undefined ? DEFAULT_TOPIC : (block.topic ?? DEFAULT_TOPIC);
  return encodeBlock(CHANNEL, topic, renderFeedback(result), {
    time: new Date().toISOString(),
    ...(edited && { mode: 'edit' }),
  });
}

async function run(
  block: Block,
  agent: AgentPlace,
  ctx: RequestContext<unknown>,
  executor: Executor,
): Promise<CommandResult> {
  if (block.kind === 'broken') return fail('INVALID_PAYLOAD', block.problem);
  const topic = executor.parseTopic(block.topic);
  if (topic === undefined) return fail('INVALID_TARGET', `Invalid topic: ${shorten(block.topic ?? '')}`);
  if (block.payload.trim() === '') return fail('INVALID_PAYLOAD', 'Empty command');
  try {
    const outcome = await executor.execute({
      surface: 'chanflow',
      agent,
      topic,
      cmd: block.payload,
      whenBusy: 'wait',
      gone: () => ctx.signal,
    });
    return outcome.result;
  } catch (thrown) {
    if (!(thrown instanceof HttpError) || thrown instanceof ClientGoneError) throw thrown;
    return fail('BUSY', thrown.message);
  }
}
