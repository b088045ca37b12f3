// A turn in ChanFlow: every block for `string` is replaced by its answer, all else passes to the byte.

import { encodeBlock } from '../../wire/chanflow/encode.js';
import { decodeChanFlow, type Segment } from '../../wire/chanflow/decode.js';
import { type CommandResult, fail, renderFeedback } from '../result.js';
import { parseTopic, type Topic, type TopicOptions } from '../topic.js';

export const CHANNEL = 'string';
/** Commands of one turn: an agent says a few, a program that writes thousands has lost its way. */
export const MAX_TURN_BLOCKS = 1000;

/** Runs one command and says in which topic; rejects only for what is no answer to the agent. */
export type RunBlock = (
  topic: Topic,
  cmd: string,
) => Promise<{ readonly topic: Topic; readonly result: CommandResult }>;

export interface TurnOptions {
  readonly run: RunBlock;
  readonly topics?: TopicOptions;
  readonly now?: () => Date;
}

/** One after the other, in order: a command may need what the one before has done. */
export async function answerTurn(turn: string | readonly Segment[], options: TurnOptions): Promise<string> {
  const answers: string[] = [];
  let blocks = 0;
  for (const segment of typeof turn === 'string' ? decodeChanFlow(CHANNEL, turn) : turn) {
    if (segment.kind !== 'outside') blocks += 1;
    const tooMany = blocks > MAX_TURN_BLOCKS && segment.kind === 'block';
    const answer = tooMany
      ? refuse(segment, `more than ${MAX_TURN_BLOCKS} blocks in one turn`, options)
      : await answerSegment(segment, options);
    // A tag begins its line, also when what it answers did not.
    const needsBreak = segment.kind !== 'outside' && answers.at(-1)?.endsWith('\n') === false;
    answers.push(needsBreak ? `\n${answer}` : answer);
  }
  return answers.join('');
}

export async function answerSegment(segment: Segment, options: TurnOptions): Promise<string> {
  if (segment.kind === 'outside') return segment.raw;
  if (segment.kind === 'broken') return refuse(segment, segment.problem, options);
  const asked = parseTopic(segment.topic, options.topics);
  if (asked === undefined)
    return answer(spelled(segment), fail('INVALID_TARGET', `Invalid topic: ${segment.topic ?? ''}`), options);
  const { topic, result } = await options.run(asked, segment.payload);
  return answer(topic.name === asked.name ? spelled(segment) : topic.name, result, options);
}

function refuse(
  segment: Exclude<Segment, { kind: 'outside' }>,
  problem: string,
  options: TurnOptions,
): string {
  return answer(spelled(segment), fail('INVALID_PAYLOAD', problem), options);
}

/** As the agent wrote it: it looks for its own words. */
function spelled({ topic }: { readonly topic: string | undefined }): string {
  return topic ?? 'main';
}

function answer(topic: string, result: CommandResult, { now = () => new Date() }: TurnOptions): string {
  const isEdit = result.ok && result.change !== undefined;
  return encodeBlock(CHANNEL, topic, renderFeedback(result), {
    time: formatTime(now()),
    ...(isEdit && { mode: 'edit' }),
  });
}

/** `2026-03-19T14:30+09:00`: local, so that it means something to whoever reads it, with its distance from UTC. */
export function formatTime(date: Date): string {
  const offset = -date.getTimezoneOffset();
  const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, 16);
  const two = (number: number): string => String(number).padStart(2, '0');
  const hours = Math.floor(Math.abs(offset) / 60);
  return `${local}${offset < 0 ? '-' : '+'}${two(hours)}:${two(Math.abs(offset) % 60)}`;
}
