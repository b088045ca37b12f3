// What may be told of one message that passes: who, to whom, which method and id, how large. Never what it says.

export interface TraceRecord {
  /** `client 3`, `worker 1` or `bus`. */
  readonly from: string;
  readonly to: string;
  readonly kind: 'request' | 'notification' | 'response' | 'error';
  readonly method?: string;
  readonly id?: string;
  readonly bytes: number;
  /** Why it went nowhere. */
  readonly dropped?: string;
}

export type TraceHook = (record: TraceRecord) => void;
