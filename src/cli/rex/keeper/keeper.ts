// The keeper of one target: connections that are open already, given to one call of `rex` at a time.

import { statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { toError } from '../../../base/errors.js';
import { Resource } from '../../../base/resource.js';
import { settleAll } from '../../../base/settle-all.js';
import { ConnectError } from '../../../client/rex/explain-failure.js';
import type { SessionFacts } from '../../../client/rex/rex-client.js';
import type { RexParams } from '../../../client/rex/rex-methods.js';
import { listenSocket, type SocketListener } from '../../../wire/transport/socket.js';
import { readFirstLine } from './first-line.js';
import { keeperAddress } from './address.js';
import { runPlainly } from './plain-call.js';
import { hasSameVariables, offerPlainly, type PlainHello } from './plain-words.js';
import { relay, type RelayEnd } from './relay.js';
import { Spare } from './spare.js';
import type { KeeperSpec } from './spec.js';
import { type Hello, type KeeperStatus, type KeptStart, type Reply, START_ID } from './words.js';

/** As long as ssh keeps a master that nobody uses. */
export const KEEP_IDLE_MS = 600_000;
/** Connections at once; a call beyond that makes its own. */
export const MAX_KEPT_LINKS = 16;
/** That wait for calls; more are closed as they come back. */
export const MAX_SPARES = 2;
/** A connection over a network that has waited longer is asked whether it is still there. */
const STALE_MS = 15_000;
/** Until the next one is made: the call that took the last one has work to do first. */
const REFILL_MS = 150;
/** How often the place in the file system is looked at: who removes it wants us gone. */
const LOOK_MS = 2000;

export class Keeper extends Resource {
  readonly #spec: KeeperSpec;
  readonly #idleMs: number;
  readonly #spares: Spare[] = [];
  readonly #links = new Set<Spare>();
  #opening = 0;
  #calls = 0;
  #used = 0;
  #lastUse = Date.now();
  #listener: SocketListener | undefined;
  #offer: Disposable | undefined;
  #looking: NodeJS.Timeout | undefined;
  #refilling: NodeJS.Timeout | undefined;

  /** Resolves when calls are taken. Rejects with AddressInUseError when another keeper does that already. */
  static async open(spec: KeeperSpec, idleMs = KEEP_IDLE_MS): Promise<Keeper> {
    const keeper = new Keeper(spec, idleMs);
    await keeper.#listen();
    return keeper;
  }

  private constructor(spec: KeeperSpec, idleMs: number) {
    super();
    this.#spec = spec;
    this.#idleMs = idleMs;
  }

  async #listen(): Promise<void> {
    const { socket } = this.#spec;
    this.#listener = await listenSocket(
      { path: socket },
      {
        onLink: (link) => {
          this.#serve(link.input as Socket).catch(() => link.close());
        },
      },
    );
    const { ino } = statSync(socket);
    this.#offer = offerPlainly(socket, this.#spec.alias, process.env);
    this.#looking = setInterval(() => this.#look(ino), Math.min(LOOK_MS, this.#idleMs));
    this.#refill(0);
  }

  async #serve(socket: Socket): Promise<void> {
    const hello = JSON.parse(await readFirstLine(socket)) as Hello;
    if (hello.want === 'status') return say(socket, { status: this.#status() }, true);
    if (hello.want === 'stop') {
      say(socket, { stopping: true }, true);
      return await this.close();
    }
    const fits = hello.want === 'plain' ? this.#fitsPlainly(hello) : hello.key === this.#spec.key;
    if (!fits || Date.now() > hello.until || this.#links.size + this.#opening >= MAX_KEPT_LINKS)
      return hello.want === 'plain' ? void socket.end('n\n') : say(socket, { none: true }, true);
    this.#calls += 1;
    try {
      if (hello.want === 'plain') await this.#runPlainly(socket, hello.start);
      else await this.#lend(socket, hello.want === 'run' ? hello.start : undefined);
    } finally {
      this.#calls -= 1;
      this.#lastUse = Date.now();
    }
  }

  async #lend(socket: Socket, start: KeptStart | undefined): Promise<void> {
    let spare: Spare;
    try {
      const fresh = this.#takeFresh();
      if (fresh === undefined) say(socket, { wait: true });
      spare = fresh ?? (await this.#takeSpare()) ?? (await this.#openSpare());
    } catch (thrown) {
      const error = toError(thrown);
      const reason = error instanceof ConnectError ? error.reason : 'failed';
      return say(socket, { failed: { reason, message: error.message } }, true);
    }
    this.#used += 1;
    this.#refill(REFILL_MS);
    say(socket, { session: spare.session });
    if (start !== undefined) spare.link.output.write(startLine(start, spare.session, this.#spec.cwd));
    await this.#takeBack(spare, await relay(socket, spare.link));
  }

  /** Of who knows nothing but its variables: what else our connections depend on we look at ourselves. */
  #fitsPlainly(hello: PlainHello): boolean {
    const { alias, key } = this.#spec;
    if (hello.alias !== alias || !hasSameVariables(hello, process.env)) return false;
    return keeperAddress(alias, process.env)?.key === key;
  }

  async #runPlainly(socket: Socket, start: KeptStart): Promise<void> {
    socket.write('h\n');
    let spare: Spare;
    try {
      spare = this.#takeFresh() ?? (await this.#takeSpare()) ?? (await this.#openSpare());
    } catch {
      return void socket.end('n\n'); // whoever does it again is told why not
    }
    this.#used += 1;
    this.#refill(REFILL_MS);
    const { session, link } = spare;
    const line = startLine(start, session, this.#spec.cwd);
    const end = await runPlainly(socket, link, { sessionId: session.session_id, startLine: line });
    await this.#takeBack(spare, end);
  }

  async #takeBack(spare: Spare, end: RelayEnd): Promise<void> {
    if (end === 'clean' && !this.closing && (await spare.renew()) && this.#spares.length < MAX_SPARES)
      this.#spares.push(spare);
    else await this.#discard(spare);
  }

  /** One that need not be asked whether it is still there. */
  #takeFresh(): Spare | undefined {
    const last = this.#spares.at(-1);
    const stale = last === undefined || (this.#spec.remote && Date.now() - last.idleSince > STALE_MS);
    return stale ? undefined : this.#spares.pop();
  }

  async #takeSpare(): Promise<Spare | undefined> {
    for (let spare = this.#spares.pop(); spare !== undefined; spare = this.#spares.pop()) {
      if (await spare.isAlive()) return spare;
      void this.#discard(spare);
    }
    return undefined;
  }

  async #openSpare(): Promise<Spare> {
    this.#opening += 1;
    try {
      const spare = await Spare.open(this.#spec);
      this.#links.add(spare);
      void spare.exited.then(() => this.#forget(spare));
      if (this.closing) await this.#discard(spare);
      return spare;
    } finally {
      this.#opening -= 1;
    }
  }

  /** One that cannot be made is not tried again until a call asks, which is then told why. */
  #refill(afterMs: number): void {
    const refill = async (): Promise<void> => {
      if (this.closing || this.#spares.length > 0 || this.#opening > 0) return;
      if (this.#links.size >= MAX_KEPT_LINKS) return;
      this.#spares.push(await this.#openSpare());
    };
    clearTimeout(this.#refilling);
    this.#refilling = setTimeout(() => void refill().catch(() => {}), afterMs);
  }

  #forget(spare: Spare): void {
    this.#links.delete(spare);
    const at = this.#spares.indexOf(spare);
    if (at !== -1) this.#spares.splice(at, 1);
  }

  async #discard(spare: Spare): Promise<void> {
    this.#forget(spare);
    await spare.link.close();
  }

  #look(ino: number): void {
    const there = statSync(this.#spec.socket, { throwIfNoEntry: false })?.ino === ino;
    const idle = this.#calls === 0 && Date.now() - this.#lastUse >= this.#idleMs;
    if (!there || idle) void this.close();
  }

  #status(): KeeperStatus {
    return {
      alias: this.#spec.alias,
      pid: process.pid,
      idle: this.#spares.length,
      used: this.#used,
      idle_ms: this.#calls > 0 ? 0 : Date.now() - this.#lastUse,
    };
  }

  protected override async release(): Promise<void> {
    clearInterval(this.#looking);
    clearTimeout(this.#refilling);
    this.#offer?.[Symbol.dispose]();
    await this.#listener?.close();
    await settleAll([...this.#links].map((spare) => this.#discard(spare)));
  }
}

/** As `rex exec` without options asks: all the time and all the output that the target allows. */
function startLine(start: KeptStart, session: SessionFacts, cwd: string | undefined): string {
  const { hard_timeout_ms, max_output_bytes } = session.limits;
  const params: RexParams<'exec.start'> & { session_id: string } = {
    ...(cwd !== undefined && { cwd }),
    ...start,
    argv: [...start.argv],
    session_id: session.session_id,
    ...(hard_timeout_ms !== undefined && { timeout_ms: hard_timeout_ms }),
    ...(max_output_bytes !== undefined && { max_output_bytes }),
  };
  return `${JSON.stringify({ jsonrpc: '2.0', id: START_ID, method: 'exec.start', params })}\n`;
}

function say(socket: Socket, reply: Reply, last = false): void {
  const line = `${JSON.stringify(reply)}\n`;
  if (last) socket.end(line);
  else socket.write(line);
}
