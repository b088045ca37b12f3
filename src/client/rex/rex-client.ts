// A client of REXD: one session over one link, typed by the method table.

import { LocalError, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { ClosedError, Resource } from '../../base/resource.js';
import { RpcPeer } from '../../wire/jsonrpc/peer.js';
import type { RequestOptions } from '../../wire/jsonrpc/pending-requests.js';
import type { Link } from '../../wire/transport/link.js';
import { type CompressionMode, type CompressionOffer, offerCompression } from './compression.js';
import { ProcessEvents } from './process-events.js';
import { type FetchOutput, RemoteOutput } from './remote-output.js';
import { type RemoteExit, RemoteProcess } from './remote-process.js';
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
}

export type SessionFacts = RexResult<'session.open'>;

export interface RunResult extends RemoteExit {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Closing it closes the session: what it started ends, except what was started detached. */
export class RexClient extends Resource {
  readonly session: SessionFacts;
  readonly #peer: RpcPeer;
  readonly #events: ProcessEvents;
  readonly #borrowed: boolean;

  /** Opens a session over the link, which is the client's from here on. Rejects, with the link closed, if it cannot. */
  static async open(link: Link, options: RexClientOptions): Promise<RexClient> {
    const events = new ProcessEvents();
    const offer = offerCompression(link, options.compression);
    const peer = new RpcPeer(offer.link, {
      onNotification: ({ method, params }) => events.receive(method, params),
      ...(options.log !== undefined && { log: options.log }),
    });
    try {
      const { opened } = options;
      const session = opened ?? (await openSession(peer, options, offer.params));
      offer.accept(session.compression);
      return new RexClient(peer, events, session, opened !== undefined);
    } catch (thrown) {
      await peer.close();
      throw thrown;
    }
  }

  private constructor(peer: RpcPeer, events: ProcessEvents, session: SessionFacts, borrowed: boolean) {
    super();
    this.#borrowed = borrowed;
    this.#peer = peer;
    this.#events = events;
    this.session = session;
    void this.#outlive();
  }

  /** Any method of the table, within the session. Rejects with an RpcError for what the server refuses. */
  async request<Name extends RexMethod>(
    method: Name,
    params: RexParams<Name>,
    options?: RequestOptions,
  ): Promise<RexResult<Name>> {
    const all = { session_id: this.session.session_id, ...params };
    return (await this.#peer.request(method, all, options)) as RexResult<Name>;
  }

  /** Resolves when the process runs. Aborting the signal kills it, whenever that is. */
  async start(
    params: RexParams<'exec.start'>,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<RemoteProcess> {
    options.signal?.throwIfAborted();
    const { process_id: id, pid } = await this.request('exec.start', params);
    const process = this.#follow({ id, pid, detached: params.detach === true });
    killOnAbort(process, options.signal);
    return process;
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

  protected override async release(): Promise<void> {
    const { session_id } = this.session;
    if (!this.#borrowed && !this.#peer.closing)
      await this.#peer
        .request('session.close', { session_id }, { timeoutMs: CLOSE_TIMEOUT_MS })
        .catch(() => {});
    await this.#peer.close();
  }

  /** Without a connection there is no session. */
  async #outlive(): Promise<void> {
    const lost = await this.#peer.closed;
    this.#events.lose(lost ?? new ClosedError('connection'));
    await this.close();
  }

  #follow(facts: { id: string; pid: number; detached: boolean }): RemoteProcess {
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
    return new RemoteProcess({
      ...facts,
      exit,
      output,
      actions: {
        kill: async (signal) => void (await this.request('exec.kill', { process_id: id, signal })),
        write: async (params) =>
          (await this.request('exec.input', { process_id: id, ...params })).accepted_bytes,
      },
    });
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
  const opened = (await peer.request('session.open', params, {
    timeoutMs: OPEN_TIMEOUT_MS,
    ...(options.signal !== undefined && { signal: options.signal }),
  })) as Partial<SessionFacts> | null;
  if (opened?.protocol !== PROTOCOL || typeof opened.session_id !== 'string') {
    throw new LocalError('wrong_protocol', `the other side does not speak ${PROTOCOL}`, {
      facts: { protocol: opened?.protocol },
    });
  }
  return opened as SessionFacts;
}

function killOnAbort(process: RemoteProcess, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const kill = (): void => void process.kill('KILL').catch((thrown: unknown) => void toError(thrown));
  signal.addEventListener('abort', kill, { once: true });
  const stop = (): void => signal.removeEventListener('abort', kill);
  process.exit.then(stop, stop);
  if (signal.aborted) kill();
}
