// What commands need of the daemon around them: the inbox, the agents, the daemon itself. The daemon implements these.

export type EventStatus = 'pending' | 'delivered' | 'ack';

export interface InboxEvent {
  readonly id: string;
  readonly agentId: string;
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly source: string;
  readonly text: string;
  readonly status: EventStatus;
  readonly deliveredAt?: string;
  readonly ackedAt?: string;
}

export interface EventPage {
  /** How many there are in all, also those that did not fit. */
  readonly total: number;
  /** Newest first. */
  readonly events: readonly InboxEvent[];
}

/** Every answer is about one agent: an id of somebody else's event is unknown. */
export interface EventInbox {
  /** Unacknowledged ones, or all; at most `limit`. */
  list(agentId: string, options: { readonly all: boolean; readonly limit: number }): Promise<EventPage>;
  read(agentId: string, eventId: string): Promise<InboxEvent | undefined>;
  /** False for one that is not there. Once more is no error. */
  ack(agentId: string, eventId: string): Promise<boolean>;
  /** Removes acknowledged ones, or all, and says how many. */
  clear(agentId: string, options: { readonly all: boolean }): Promise<number>;
}

/** Who an agent is and where it may work. */
export interface AgentPlace {
  readonly id: string;
  readonly home: string;
  readonly allowedPaths: readonly string[];
}

export interface AgentChange {
  readonly id: string;
  readonly home?: string;
  readonly allowedPaths?: readonly string[];
}

/** Rejects with a LocalError whose message may be shown when an id or a path is not acceptable. */
export interface AgentDirectory {
  list(): Promise<readonly AgentPlace[]>;
  /** Registers or updates: only what is given is changed. */
  register(change: AgentChange): Promise<{ readonly agent: AgentPlace; readonly created: boolean }>;
  /** False when there was none. Its topics and shells go with it. */
  remove(id: string): Promise<boolean>;
  /** Writes down whose turn it is for clients that do not say; gives the file. */
  use(id: string, options: { readonly local: boolean }): Promise<{ readonly file: string }>;
  /** The file that says which agent is current for clients that do not say. */
  readonly configFile: string;
}

export interface DaemonStatus {
  readonly port: number;
  readonly agents: number;
  readonly sessions: number;
}

export interface DaemonControl {
  status(): DaemonStatus;
  /** Begins to stop a moment later, so that the answer still gets out. */
  stop(): void;
  /** The address of the agent's webhook; made when there is none. */
  webhookUrl(agentId: string): Promise<string>;
  /** A new address; the old one is dead at once. */
  rotateWebhook(agentId: string): Promise<string>;
}

export interface RuntimeServices {
  readonly events: EventInbox;
  readonly agents: AgentDirectory;
  readonly daemon: DaemonControl;
}
