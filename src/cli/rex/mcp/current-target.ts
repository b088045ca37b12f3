// The target that the tools work on now: chosen outside of the conversation, connected when it is first needed.

import { settleAll } from '../../../base/settle-all.js';
import { Resource } from '../../../base/resource.js';
import { withSignal } from '../../../base/deadline.js';
import type { RexClient } from '../../../client/rex/rex-client.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import type { RexToolTarget } from '../../../client/rex/tools/host.js';

export interface TargetDoor {
  /** Which target is meant; undefined for whichever the project, the folder or the last choice says. */
  readonly choose: (name: string | undefined) => Promise<TargetChoice>;
  readonly connect: (choice: TargetChoice) => Promise<RexClient>;
  readonly folderOn: (choice: TargetChoice) => string | undefined;
}

interface Connection {
  readonly key: string;
  readonly choice: TargetChoice;
  readonly client: Promise<RexClient>;
  calls: number;
  retired: boolean;
}

export class CurrentTarget extends Resource {
  readonly #door: TargetDoor;
  /** Chosen by the person in this very session. */
  #named: string | undefined;
  #current: Connection | undefined;
  readonly #open = new Set<Connection>();
  #lastAlias: string | undefined;

  constructor(door: TargetDoor) {
    super();
    this.#door = door;
  }

  /**
   * Asked for at every call: files are read again, so that `rex target use` in another window is heard of. A connection
   * that was lost is opened again; one whose target is not the current one any more is closed when its last call ends.
   */
  async take(signal: AbortSignal): Promise<RexToolTarget> {
    const choice = await this.#door.choose(this.#named);
    const connection = this.#connectionTo(choice);
    connection.calls += 1;
    try {
      const client = await withSignal(connection.client, signal);
      const { target, alias } = choice;
      const moved = this.#lastAlias !== undefined && this.#lastAlias !== alias;
      this.#lastAlias = alias;
      return {
        client,
        name: alias,
        cwd: this.#door.folderOn(choice),
        login: target?.loginShell === true,
        ...(moved && { notice: `[the target is now ${alias}]` }),
        release: () => this.#release(connection),
      };
    } catch (thrown) {
      this.#release(connection);
      throw thrown;
    }
  }

  /** The target of this session from now on; undefined: as if nothing had been named. Connects, to know that it can. */
  async use(name: string | undefined): Promise<TargetChoice> {
    const choice = await this.#door.choose(name);
    await this.#connectionTo(choice).client;
    this.#named = name;
    return choice;
  }

  async which(): Promise<TargetChoice> {
    return await this.#door.choose(this.#named);
  }

  protected override async release(): Promise<void> {
    await settleAll([...this.#open].map((connection) => this.#close(connection)));
  }

  #connectionTo(choice: TargetChoice): Connection {
    const key = JSON.stringify([choice.alias, choice.target]);
    if (this.#current?.key === key && !this.#current.retired) return this.#current;
    if (this.#current !== undefined) this.#retire(this.#current);
    const connection: Connection = {
      key,
      choice,
      client: this.#door.connect(choice),
      calls: 0,
      retired: false,
    };
    this.#current = connection;
    this.#open.add(connection);
    connection.client.then(
      (client) => client.signal.addEventListener('abort', () => this.#retire(connection), { once: true }),
      () => this.#retire(connection), // the next call tries again
    );
    return connection;
  }

  #release(connection: Connection): void {
    connection.calls -= 1;
    if (connection.retired) this.#closeIfUnused(connection);
  }

  #retire(connection: Connection): void {
    if (connection.retired) return;
    connection.retired = true;
    this.#closeIfUnused(connection);
  }

  #closeIfUnused(connection: Connection): void {
    if (connection.calls === 0) void this.#close(connection);
  }

  async #close(connection: Connection): Promise<void> {
    this.#open.delete(connection);
    const client = await connection.client.catch(() => undefined);
    await client?.close();
  }
}
