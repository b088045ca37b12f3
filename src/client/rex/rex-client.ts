// A client of REXD: one session, over one link or over one after another, typed by the method table.

import { LocalError, RpcError, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { Resource } from '../../base/resource.js';
import { RpcPeer } from '../../wire/jsonrpc/peer.js';
import type { RequestOptions } from '../../wire/jsonrpc/pending-requests.js';
import type { Link } from '../../wire/transport/link.js';
import { type CompressionMode, type CompressionOffer, offerCompression } from './compression.js';
import { type Connection, PlainConnection } from './connection.js';
import { EventInbox } from './event-inbox.js';
import { FollowedOutput, type OutputOffsets } from './followed-output.js';
import { ProcessEvents } from './process-events.js';
import type { ReconnectOptions } from './reconnect.js';
import { type FetchOutput, RemoteOutput } from './remote-output.js';
import { type RemoteExit, RemoteProcess, type RemoteProcessActions } from './remote-process.js';
import { ResumableConnection } from './resumable-connection.js';
import type { RexMethod, RexParams, RexResult } from './rex-methods.js';

export const PROTOCOL = 'rexd/1';
/** A server that does not answer its first request by then is not there. */
export const OPEN_TIMEOUT_MS = 20_000;

export interface RexClientOptions {
  readonly clientName: string;
  readonly clientVersion?: string;
  readonly workspaceRoots?: readonly string[];
  readonly requestedCapabilities?: readonly string[];
  readonly limits?: RexParams<'session.open'>['limits'];
  readonly signal?: AbortSignal;
  readonly log?: Log;
  /** Of what is sent, in both directions; off unless it is asked for. */
  readonly compression?: CompressionMode | undefined;
  /** A session that is open on this link already; whoever has opened it closes it. */
  readonly opened?: SessionFacts;
  /**
   * A way to another link when the first is lost: then the session is resumed, output goes on without a gap or a repeat, and
   * what was asked is answered once. A server that cannot resume gives a session that ends with its link; see `resumable`.
   */
  readonly reconnect?: ReconnectOptions | undefined;
}

export type SessionFacts = RexResult<'session.open'>;

export interface RunResult extends RemoteExit {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** A program on a terminal; input is what is typed. */
export interface RemoteTerminal {
  readonly process: RemoteProcess;
  resize(size: { readonly cols: number; readonly rows: number }): Promise<void>;
}

/** Closing it closes the session: what it started ends, except what was started detached. */
export class RexClient extends Resource {
  readonly session: SessionFacts;
  readonly #connection: Connection;
  readonly #events: ProcessEvents;
  readonly #borrowed: boolean;

  /** Opens a session over the link, which is the client's from here on. Rejects, with the link closed, if it cannot. */
  static async open(link: Link, options: RexClientOptions): Promise<RexClient> {
    const { reconnect, compression, log } = options;
    const events = new ProcessEvents();
    const inbox = new EventInbox(events);
    const offer = offerCompression(link, compression);
    let resumable: ResumableConnection | undefined;
    const peer = new RpcPeer(offer.link, {
      onNotification: ({ method, params }) => {
        if (resumable === undefined) inbox.receive(method, params);
        else resumable.receive(peer, method, params);
      },
      ...(log !== undefined && { log }),
    });
    try {
      const { opened } = options;
      const session = opened ?? (await openSession(peer, options, offer.params));
      offer.accept(session.compression);
      const { session_id: sessionId, resume } = session;
      if (reconnect !== undefined && resume !== undefined)
        resumable = new ResumableConnection({ peer, sessionId, resume, inbox, reconnect, compression, log });
      return new RexClient(resumable ?? new PlainConnection(peer), events, session, opened !== undefined);
    } catch (thrown) {
      await peer.close();
      throw thrown;
    }
  }

  private constructor(
    connection: Connection,
    events: ProcessEvents,
    session: SessionFacts,
    borrowed: boolean,
  ) {
    super();
    this.#borrowed = borrowed;
    this.#connection = connection;
    this.#events = events;
    this.session = session;
    void this.#outlive();
  }

  /** Whether the session outlives its link. */
  get resumable(): boolean {
    return this.#connection instanceof ResumableConnection;
  }

  /** Any method of the table, within the session. Rejects with an RpcError for what the server refuses. */
  async request<Name extends RexMethod>(
    method: Name,
    params: RexParams<Name>,
    options?: RequestOptions,
  ): Promise<RexResult<Name>> {
    const all = { session_id: this.session.session_id, ...params };
    return (await this.#connection.request(method, all, options)) as RexResult<Name>;
  }

  /** Resolves when the process runs. Aborting the signal kills it, whenever that is. */
  async start(
    params: RexParams<'exec.start'>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<RemoteProcess> {
    options.signal?.throwIfAborted();
    // Without the other end keeping what we have not taken, as much as might come would have to be kept here.
    using _ = this.resumable ? this.#events.expectStart() : undefined;
    const { process_id: id, pid, existing } = await this.request('exec.start', params);
    const detached = params.detach === true;
    const process = existing === true ? this.attach(id) : this.#follow({ id, pid, detached });
    killOnAbort(process, options.signal);
    return process;
  }

  /**
   * A process that runs already, or has ended: of this session, or a detached one of any. Its output comes from `offsets`
   * on, both streams from their beginning unless given, until its end. Closing it leaves the process alone.
   */
  attach(id: string, offsets: Partial<OutputOffsets> = {}): RemoteProcess {
    const exit = this.#waitFor(id);
    exit.catch(() => {}); // whoever waits for it is told; nobody has to
    const read = async (params: Omit<RexParams<'exec.read'>, 'process_id'>, signal: AbortSignal) =>
      await this.request('exec.read', { process_id: id, ...params }, { signal });
    const output = new FollowedOutput(read, offsets);
    return new RemoteProcess({ id, exit, output, actions: this.#actionsOn(id), detached: true });
  }

  /** Runs to the end and gives all of it. stdin is empty unless given: nothing waits for what never comes. */
  async run(
    params: RexParams<'exec.start'>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<RunResult> {
    const process = await this.start({ stdin: '', ...params }, options);
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    for await (const { stream, bytes } of process) chunks[stream].push(bytes);
    const exit = await process.exit;
    options.signal?.throwIfAborted();
    return { ...exit, stdout: Buffer.concat(chunks.stdout), stderr: Buffer.concat(chunks.stderr) };
  }

  /** A program on a terminal. What the terminal shows is its stdout. */
  async openTerminal(params: RexParams<'pty.open'>): Promise<RemoteTerminal> {
    const { pty_id, process_id: id } = await this.request('pty.open', params);
    const process = this.#follow({ id, pid: undefined, detached: false }, async ({ data = '', encoding }) => {
      const typed = { pty_id, data, ...(encoding !== undefined && { encoding }) };
      return (await this.request('pty.input', typed)).accepted_bytes;
    });
    return {
      process,
      resize: async (size) => void (await this.request('pty.resize', { pty_id, ...size })),
    };
  }

  protected override async release(): Promise<void> {
    const { session_id } = this.session;
    if (!this.#borrowed && this.#connection.connected)
      await this.#connection
        .request('session.close', { session_id }, { timeoutMs: CLOSE_TIMEOUT_MS })
        .catch(() => {});
    await this.#connection.close();
  }

  /** Without a connection there is no session. */
  async #outlive(): Promise<void> {
    this.#events.lose(await this.#connection.lost);
    await this.close();
  }

  async #waitFor(id: string): Promise<RemoteExit> {
    for (;;) {
      const ended = await this.request('exec.wait', { process_id: id, timeout_ms: WAIT_MS });
      if (ended.status === 'running') continue;
      return {
        exitCode: ended.exit_code ?? -1,
        signal: ended.signal,
        timedOut: ended.timed_out,
        outputLimitExceeded: ended.output_limit_exceeded,
        durationMs: ended.duration_ms,
      };
    }
  }

  #actionsOn(id: string): RemoteProcessActions {
    return {
      kill: async (signal) => void (await this.request('exec.kill', { process_id: id, signal })),
      write: async (params) =>
        (await this.request('exec.input', { process_id: id, ...params })).accepted_bytes,
    };
  }

  #follow(
    facts: { id: string; pid: number | undefined; detached: boolean },
    write?: RemoteProcessActions['write'],
  ): RemoteProcess {
    const { id } = facts;
    const output = new RemoteOutput(this.#fetchOutput(id));
    const exit = new Promise<RemoteExit>((resolve, reject) => {
      this.#events.listen(id, {
        onOutput: (stream, bytes) => output.push(stream, bytes),
        onExit: (ended, totals) => {
          this.#events.forget(id);
          output.end(totals);
          resolve(ended);
        },
        onLost: (reason) => {
          output.fail(reason);
          reject(reason);
        },
      });
    });
    exit.catch(() => {}); // whoever waits for it is told; nobody has to
    const actions = { ...this.#actionsOn(id), ...(write !== undefined && { write }) };
    return new RemoteProcess({ ...facts, exit, output, actions });
  }

  #fetchOutput(id: string): FetchOutput {
    return async (stream, offset) => {
      const { data } = await this.request('exec.read', {
        process_id: id,
        stream,
        offset,
        encoding: 'base64',
      });
      const bytes = Buffer.from(data, 'base64');
      if (bytes.length === 0)
        throw new LocalError('output_gone', `the server no longer has ${stream} from ${offset} on`);
      return bytes;
    };
  }
}

/** One question about the end of a process; when there is no answer yet it is asked again. */
const WAIT_MS = 60_000;
/** A server that is going away anyway is not waited for. */
const CLOSE_TIMEOUT_MS = 2000;

async function openSession(
  peer: RpcPeer,
  options: RexClientOptions,
  offered: CompressionOffer['params'],
): Promise<SessionFacts> {
  const params: RexParams<'session.open'> = {
    client_name: options.clientName,
    ...(options.clientVersion !== undefined && { client_version: options.clientVersion }),
    ...(options.workspaceRoots !== undefined && { workspace_roots: [...options.workspaceRoots] }),
    ...(options.requestedCapabilities !== undefined && {
      requested_capabilities: [...options.requestedCapabilities],
    }),
    ...(options.limits !== undefined && { limits: options.limits }),
    ...offered,
  };
  const ask = async (more: RexParams<'session.open'> = {}): Promise<Partial<SessionFacts> | null> =>
    (await peer.request(
      'session.open',
      { ...params, ...more },
      {
        timeoutMs: OPEN_TIMEOUT_MS,
        ...(options.signal !== undefined && { signal: options.signal }),
      },
    )) as Partial<SessionFacts> | null;
  const { reconnect } = options;
  const opened = await (reconnect === undefined ? ask() : ask(toResume(reconnect)).catch(plainly(ask)));
  if (opened?.protocol !== PROTOCOL || typeof opened.session_id !== 'string') {
    throw new LocalError('wrong_protocol', `the other side does not speak ${PROTOCOL}`, {
      facts: { protocol: opened?.protocol },
    });
  }
  return opened as SessionFacts;
}

function toResume({ windowMs }: ReconnectOptions): RexParams<'session.open'> {
  return { resumable: true, ...(windowMs !== undefined && { resume_window_ms: windowMs }) };
}

/** A server that cannot resume sessions is still a server. */
function plainly<T>(ask: () => Promise<T>): (thrown: unknown) => Promise<T> {
  return async (thrown) => {
    const isRefused =
      thrown instanceof RpcError &&
      thrown.code === UNSUPPORTED &&
      (thrown.data as { capability?: unknown } | undefined)?.capability === 'resume';
    if (!isRefused) throw thrown;
    return await ask();
  };
}

/** Of REXD: unsupported_capability. */
const UNSUPPORTED = -32_007;

function killOnAbort(process: RemoteProcess, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const kill = (): void => void process.kill('KILL').catch((thrown: unknown) => void toError(thrown));
  signal.addEventListener('abort', kill, { once: true });
  const stop = (): void => signal.removeEventListener('abort', kill);
  process.exit.then(stop, stop);
  if (signal.aborted) kill();
}
