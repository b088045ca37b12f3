// The tags of ChanFlow: `<𝒞=channel:topic key=value>` on a line of its own, and `</𝒞>`.

export const CLOSE_TAG = '</𝒞>';
export const OPEN_TAG_START = '<𝒞=';
/** A line longer than this is no tag, whatever it begins with. */
export const MAX_TAG_CHARS = 1024;

export interface OpenTag {
  readonly channel: string;
  /** What follows the first `:`, as it was written; undefined for a channel alone. */
  readonly topic: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  /** How much of the line it takes. */
  readonly length: number;
}

const OPEN = /^<𝒞=([^\s:>]+)(?::([^\s>]+))?((?:[ \t]+[\w-]+=(?:"[^"\r\n]*"|[^\s>"]+))*)[ \t]*>/u;
const ATTRIBUTE = /([\w-]+)=(?:"([^"]*)"|([^\s>"]+))/gu;

/** The tag at the beginning of a line; undefined if there is none. */
export function readOpenTag(line: string): OpenTag | undefined {
  if (!line.startsWith(OPEN_TAG_START)) return undefined;
  const match = OPEN.exec(line.slice(0, MAX_TAG_CHARS));
  if (match === null) return undefined;
  const [tag, channel = '', topic, rest = ''] = match;
  const attributes = Object.fromEntries(
    [...rest.matchAll(ATTRIBUTE)].map(([, key = '', quoted, bare]) => [key, quoted ?? bare ?? '']),
  );
  return { channel, topic, attributes, length: tag.length };
}

/**
 * Where in a line, but not at its beginning, a tag of this channel opens; not one that is quoted, which speaks about tags.
 * It ends before the next one begins: what was looked at for one beginning is not looked at again for another.
 */
export function findTagWithin(line: string, channel: string): number | undefined {
  const start = `${OPEN_TAG_START}${channel}`;
  for (let at = line.indexOf(start); at !== -1; at = line.indexOf(start, at + 1)) {
    if (at === 0 || /[`"'“‘«]/u.test(line.charAt(at - 1))) continue;
    const next = line.indexOf(OPEN_TAG_START, at + 1);
    if (readOpenTag(line.slice(at, next === -1 ? line.length : next))?.channel === channel) return at;
  }
  return undefined;
}
