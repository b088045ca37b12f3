// ChanFlow text to blocks: what is for one channel is taken out, everything else is handed on to the byte.

import { CLOSE_TAG, findTagWithin, type OpenTag, readOpenTag } from './tag.js';

/** Of one block; what is larger is refused as a whole. As large as a request body may be. */
export const MAX_BLOCK_CHARS = 10 * 1024 * 1024;

/** `raw` of all segments, put together, is the text. */
export type Segment =
  /** Text between blocks, and blocks of other channels. */
  | { readonly kind: 'outside'; readonly raw: string }
  | {
      readonly kind: 'block';
      readonly raw: string;
      readonly topic: string | undefined;
      readonly attributes: Readonly<Record<string, string>>;
      /** What is between the tags, without the line breaks that belong to them. */
      readonly payload: string;
    }
  | {
      readonly kind: 'broken';
      readonly raw: string;
      readonly topic: string | undefined;
      readonly problem:
        | 'unterminated channel block'
        | 'channel block is too large'
        | 'channel block does not begin its line';
    };

interface OpenBlock {
  readonly tag: OpenTag;
  readonly raw: string[];
  readonly payload: string[];
  chars: number;
  /** Its tag does not begin its line: it is no block, and only its end tells that it was meant as one. */
  readonly isMisplaced?: boolean;
}

/** Text in, segments out, as soon as they are whole. */
export class ChanFlowDecoder {
  readonly #channel: string;
  readonly #maxBlockChars: number;
  /** The beginning of a line that has not ended yet, in pieces. */
  #held: string[] = [];
  #block: OpenBlock | undefined;

  constructor(channel: string, options: { readonly maxBlockChars?: number } = {}) {
    this.#channel = channel;
    this.#maxBlockChars = options.maxBlockChars ?? MAX_BLOCK_CHARS;
  }

  push(text: string): Segment[] {
    const segments: Segment[] = [];
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      this.#held.push(text.slice(from, end + 1));
      segments.push(...this.#line(this.#takeHeld()));
      from = end + 1;
    }
    if (from < text.length) this.#held.push(text.slice(from));
    return segments;
  }

  /** What is left: the last line, and a block that nobody has closed. */
  end(): Segment[] {
    const rest = this.#takeHeld();
    const segments = rest === '' ? [] : this.#line(rest);
    const block = this.#block;
    this.#block = undefined;
    if (block === undefined) return segments;
    const raw = block.raw.join('');
    if (block.tag.channel !== this.#channel || block.isMisplaced === true)
      return [...segments, { kind: 'outside', raw }];
    const { topic } = block.tag;
    return [...segments, { kind: 'broken', raw, topic, problem: 'unterminated channel block' }];
  }

  #takeHeld(): string {
    const line = this.#held.join('');
    this.#held = [];
    return line;
  }

  #line(line: string): Segment[] {
    const block = this.#block;
    if (block === undefined) return this.#outside(line);
    if (line.startsWith(CLOSE_TAG)) return this.#close(block, line);
    // It was but mentioned: what follows is text, and here begins a block that is one.
    if (block.isMisplaced === true && readOpenTag(line) !== undefined) return this.#letGo(block, line);
    block.raw.push(line);
    block.chars += line.length;
    if (block.isMisplaced === true && block.chars > this.#maxBlockChars) return this.#letGo(block, '');
    if (block.chars <= this.#maxBlockChars) block.payload.push(line);
    return [];
  }

  #outside(line: string): Segment[] {
    const tag = readOpenTag(line);
    if (tag === undefined) return this.#misplaced(line) ?? [{ kind: 'outside', raw: line }];
    const rest = line.slice(tag.length);
    if (rest.trim() === '') {
      this.#block = { tag, raw: [line], payload: [], chars: 0 };
      return [];
    }
    const end = rest.indexOf(CLOSE_TAG);
    if (end === -1) return [{ kind: 'outside', raw: line }];
    const raw = line.slice(0, tag.length + end + CLOSE_TAG.length);
    return [this.#segment(tag, raw, rest.slice(0, end)), ...restOf(line, raw.length)];
  }

  /** A tag of ours within a line. Nothing is executed that does not begin its line, as no quoted text does; but it is told. */
  #misplaced(line: string): Segment[] | undefined {
    const at = findTagWithin(line, this.#channel);
    const tag = at === undefined ? undefined : readOpenTag(line.slice(at));
    if (at === undefined || tag === undefined) return undefined;
    const [before, raw] = [line.slice(0, at), line.slice(at)];
    const rest = raw.slice(tag.length);
    const end = rest.indexOf(CLOSE_TAG);
    if (end === -1 && rest.trim() !== '') return undefined; // a mention
    if (end === -1) {
      this.#block = { tag, raw: [raw], payload: [], chars: 0, isMisplaced: true };
      return [{ kind: 'outside', raw: before }];
    }
    const length = tag.length + end + CLOSE_TAG.length;
    return [{ kind: 'outside', raw: before }, misplaced(tag, raw.slice(0, length)), ...restOf(raw, length)];
  }

  #letGo(block: OpenBlock, line: string): Segment[] {
    this.#block = undefined;
    return [{ kind: 'outside', raw: block.raw.join('') }, ...(line === '' ? [] : this.#outside(line))];
  }

  #close(block: OpenBlock, line: string): Segment[] {
    this.#block = undefined;
    const raw = block.raw.join('') + CLOSE_TAG;
    const after = restOf(line, CLOSE_TAG.length);
    const { tag, chars } = block;
    if (block.isMisplaced === true) return [misplaced(tag, raw), ...after];
    if (chars > this.#maxBlockChars && tag.channel === this.#channel)
      return [{ kind: 'broken', raw, topic: tag.topic, problem: 'channel block is too large' }, ...after];
    // Where lines end by CR LF, so does the last one; elsewhere a CR before the end is the payload's own.
    const lineBreak = block.raw[0]?.endsWith('\r\n') === true ? /\r?\n$/u : /\n$/u;
    return [this.#segment(tag, raw, block.payload.join('').replace(lineBreak, '')), ...after];
  }

  #segment({ channel, topic, attributes }: OpenTag, raw: string, payload: string): Segment {
    if (channel !== this.#channel) return { kind: 'outside', raw };
    return { kind: 'block', raw, topic, attributes, payload };
  }
}

/** All segments of a whole text. */
export function decodeChanFlow(channel: string, text: string): Segment[] {
  const decoder = new ChanFlowDecoder(channel);
  return [...decoder.push(text), ...decoder.end()];
}

function misplaced({ topic }: OpenTag, raw: string): Segment {
  return { kind: 'broken', raw, topic, problem: 'channel block does not begin its line' };
}

function restOf(line: string, from: number): Segment[] {
  return from === line.length ? [] : [{ kind: 'outside', raw: line.slice(from) }];
}
