// What has to be known of a message before it is posted, read from its first bytes where they tell enough.

export interface PostedMessage {
  readonly body: Uint8Array;
  /** As JSON text; undefined for a notification and a batch. */
  readonly id?: string;
  readonly method?: string;
  /** The id of the request that this calls off, as JSON text. */
  readonly cancels?: string;
  /** Messages of one lane are posted one after another. */
  readonly lane?: string;
  /** What it does to a session. */
  readonly session?: 'open' | 'resume' | 'close';
  readonly sessionId?: string;
  /** The last event that the client has. */
  readonly afterSeq?: number;
}

/** As our own encoder writes it; another order of members is only not looked into. */
const HEAD = /^\{"jsonrpc":"2\.0",(?:"id":(\d+|"[^"\\]*"),)?"method":"([\w$/.]+)"/;
const HEAD_CHARS = 256;

interface Params {
  readonly id?: unknown;
  readonly process_id?: unknown;
  readonly pty_id?: unknown;
  readonly session_id?: unknown;
  readonly event_seq?: unknown;
}

export function readPosted(line: Buffer): PostedMessage {
  const [, id, method] = HEAD.exec(line.toString('latin1', 0, HEAD_CHARS)) ?? [];
  const known: PostedMessage = {
    body: line,
    ...(id !== undefined && { id }),
    ...(method !== undefined && { method }),
  };
  switch (method) {
    case '$/cancelRequest':
      return { ...known, cancels: JSON.stringify(paramsOf(line).id ?? null) };
    case 'exec.input':
    case 'pty.input': {
      const { process_id, pty_id } = paramsOf(line);
      return { ...known, lane: `${String(process_id)} ${String(pty_id)}` };
    }
    case 'session.open':
      return { ...known, session: 'open', body: openResumable(line) };
    case 'session.resume': {
      const { event_seq: seq } = paramsOf(line);
      return { ...known, session: 'resume', afterSeq: typeof seq === 'number' ? seq : 0 };
    }
    case 'session.close':
      return { ...known, session: 'close', sessionId: String(paramsOf(line).session_id) };
    default:
      return known;
  }
}

/** A resumable session answers a request that comes again as it did before; a second session.open is a second session. */
export function isSafeToRepeat({ id, session }: PostedMessage): boolean {
  return id !== undefined && session !== 'open';
}

/** Without it, events would have no place to wait. */
function openResumable(line: Buffer): Buffer {
  const message = JSON.parse(line.toString('utf8')) as { params?: object };
  return Buffer.from(JSON.stringify({ ...message, params: { ...message.params, resumable: true } }));
}

function paramsOf(line: Buffer): Params {
  return (JSON.parse(line.toString('utf8')) as { params?: Params }).params ?? {};
}
