// Names of topics: what an agent may write, and the one spelling under which a topic is known.

/** Of one part of a name: longer ones are typed by nobody, and names become file names. */
export const MAX_SEGMENT_CHARS = 64;

export const HUBS = ['app', 'bash', 'tool', 'event', 'system', 'agent'] as const;
export type Hub = (typeof HUBS)[number];

export const TOPIC_TYPES = ['tab', 'app', 'bash', 'hub'] as const;
export type TopicType = (typeof TOPIC_TYPES)[number];

/** `name` is the canonical spelling: the key of the session, `head.topic`, and what the envelope says. */
export type Topic =
  | { readonly type: 'tab'; readonly name: string }
  | { readonly type: 'app'; readonly name: string; readonly app: string; readonly config?: string }
  | { readonly type: 'bash'; readonly name: string }
  | { readonly type: 'hub'; readonly name: Hub };

export interface TopicOptions {
  /** Without the forms that only the transport seed has: `file:x` and `web:x` are refused then. */
  readonly strict?: boolean;
}

const DEFAULT_TOPIC = 'main';
const SEGMENT = new RegExp(`^[A-Za-z0-9_-]{1,${MAX_SEGMENT_CHARS}}$`);

/** Undefined for what is no topic. Nothing, or nothing but blanks, is `main`. */
export function parseTopic(raw = '', { strict = false }: TopicOptions = {}): Topic | undefined {
  const text = raw.trim();
  if (text === '') return { type: 'tab', name: DEFAULT_TOPIC };
  const [first = '', ...rest] = text.split(':');
  if (rest.length === 0) return isHub(first) ? { type: 'hub', name: first } : tab(first, first);
  if (!rest.every(isSegment)) return undefined;
  const [name = '', config] = rest;
  if (first === 'app' && rest.length <= 2)
    return { type: 'app', name: text, app: name, ...(config !== undefined && { config }) };
  if (rest.length > 1) return undefined;
  if (first === 'bash') return { type: 'bash', name: text };
  if (strict) return undefined;
  if (first === 'file') return isHub(name) ? undefined : tab(name, name);
  return first === 'web' ? tab(text, name) : undefined;
}

export function isHub(name: string): name is Hub {
  return (HUBS as readonly string[]).includes(name);
}

export function isTopicType(name: string): name is TopicType {
  return (TOPIC_TYPES as readonly string[]).includes(name);
}

function tab(name: string, segment: string): Topic | undefined {
  return isSegment(segment) ? { type: 'tab', name } : undefined;
}

function isSegment(text: string): boolean {
  return SEGMENT.test(text);
}
