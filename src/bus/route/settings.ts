// What a router is told: limits, the pools' options, how ids and sessions are treated; and how it talks to its owner.

import type { Readable, Writable } from 'node:stream';
import type { Log } from '../../base/log.js';
import type { TraceHook } from '../trace.js';

export interface RouterLimits {
  /** Longest line or frame, from clients and from workers. */
  readonly maxInputBufferBytes: number;
  /** Waiting for one client that does not read. */
  readonly maxOutputQueueBytes: number;
  /** Waiting for one worker that does not read; past it, whoever feeds it is not read. */
  readonly maxWorkerQueueBytes: number;
  /** Requests under way, of all clients together. */
  readonly maxPending: number;
  readonly maxSessions: number;
  /** Requests that wait for a worker of a pool to be ready: bytes for each pool, and for how long. */
  readonly maxWaitingBytes: number;
  readonly waitTimeoutMs: number;
  /** A client whose queue is full for this long is closed; a line is held for an id this long at most. */
  readonly backpressureTimeoutMs: number;
  /** Lines of one worker that are not believed, after which `onRubbish` is told of each. */
  readonly maxRubbishLines: number;
}

export interface PoolSettings {
  readonly id: string;
  /** Other names by which the top-level `pool` of a message may call it. */
  readonly keys?: readonly string[];
  /** Methods (`tools/*`: all that begin so) that come here when neither session nor `pool` says otherwise. */
  readonly methods?: readonly string[];
  readonly session?: {
    /** `params.sessionId` and `result.sessionId` are sessions (the default); false: the top level alone counts. */
    readonly lift?: boolean;
    /** The top-level `sessionId` is taken out before the worker sees it, and put back on what it sends. */
    readonly strip?: boolean;
  };
}

export interface RouterSettings {
  readonly limits: RouterLimits;
  readonly pools: readonly PoolSettings[];
  readonly routes: readonly { readonly method: string; readonly pool: string }[];
  readonly defaultPool?: string;
  readonly idCollision: 'hold' | 'rewrite';
  readonly sessionOwnership: 'strict' | 'shared';
  readonly notifyLoss: boolean;
  /** A session that nobody has used for so long is forgotten; absent: never. */
  readonly sessionTtlMs?: number;
  /** Messages without any routing field pass, instead of closing their client. */
  readonly lenient: boolean;
}

export const DEFAULT_LIMITS: RouterLimits = {
  maxInputBufferBytes: 1 << 20,
  maxOutputQueueBytes: 4 << 20,
  maxWorkerQueueBytes: 4 << 20,
  maxPending: 1_000_000,
  maxSessions: 1_000_000,
  maxWaitingBytes: 4 << 20,
  waitTimeoutMs: 30_000,
  backpressureTimeoutMs: 60_000,
  maxRubbishLines: 100,
};

export const DEFAULT_SETTINGS: RouterSettings = {
  limits: DEFAULT_LIMITS,
  pools: [],
  routes: [],
  idCollision: 'hold',
  sessionOwnership: 'strict',
  notifyLoss: false,
  lenient: false,
};

export interface ControlCaller {
  readonly name: string;
  /** Said by whoever added the client: it came over a door that its owner alone can use, or it has shown a token. */
  readonly trusted: boolean;
}

export interface RouterHooks {
  readonly log: Log;
  readonly trace?: TraceHook;
  /** Answers `bus/stats` when there is more to tell than `router.stats()`. */
  readonly describe?: () => unknown;
  /** Answers `bus/restart`; only trusted clients get here. What it rejects with is told to the caller. */
  readonly restart?: (params: unknown, caller: ControlCaller) => Promise<unknown>;
  /** A worker has printed more lines that are no messages than `maxRubbishLines`. */
  readonly onRubbish?: (worker: number, lines: number) => void;
}

/** A socket, or any pair of streams; a number is a descriptor of a pipe or socket, ours to close from now on. */
export type ClientStream =
  | (Readable & Writable)
  | { readonly input: number | Readable; readonly output: number | Writable };

export interface ClientOptions {
  readonly framing: 'ndjson' | 'length';
  readonly name: string;
  /** May use `bus/restart`. */
  readonly trusted?: boolean;
  /** When given, the first line must be `bus/auth` with a token that this believes. */
  readonly checkToken?: (token: string) => boolean;
}

export interface BusClientHandle {
  readonly number: number;
  readonly name: string;
  /** The client will send no more: its side has ended. */
  readonly ended: Promise<void>;
  /** It is gone, and why. */
  readonly closed: Promise<string>;
  close(reason: string): void;
}

/** The worker's ends of two pipes, as we hold them: we write to `stdin` and read `stdout`. */
export interface WorkerStream {
  readonly stdin: number | Writable;
  readonly stdout: number | Readable;
}

export interface WorkerOptions {
  readonly pool: string;
  readonly name: string;
  /** It is added but gets no work before `admit`: for a worker whose readiness is asked for by `request`. */
  readonly admitted?: boolean;
}

export interface BusWorkerHandle {
  /** The seed's Worker ID: never used again. */
  readonly number: number;
  readonly name: string;
  readonly pool: string;
  /** Requests under way there. */
  readonly load: number;
  /** Lines that were not believed. */
  readonly rubbish: number;
  /** Its output has ended (it closed stdout, or is gone). */
  readonly ended: Promise<void>;
  /** It takes no more: what is sent to it is lost. Its pipe broke, while its process may live on. */
  readonly deaf: Promise<void>;
  /** It may have work now (only needed after `admitted: false`). */
  admit(): void;
  /** No new work, but what it has may finish; resolves when nothing is pending there. */
  retire(): Promise<void>;
  /** Closes its stdin once everything queued for it is written. */
  endInput(): Promise<void>;
  /** Its process is gone: what is pending is answered -32002, its sessions are forgotten. */
  remove(why: string): void;
  /** A request of the bus itself, with an id that no client has. Rejects on an error answer, a timeout or its end. */
  request(method: string, params: unknown, timeoutMs: number): Promise<unknown>;
}

/** What is to be expected of a pool without a ready worker: requests wait, or are refused at once. */
export type PoolState = 'starting' | 'failed';
