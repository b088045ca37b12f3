// What the scanner finds in a line: where the routing fields begin and end, as positions in the block that holds it.

/** A string with its quotes, or a number; `start` is −1 when there is none. */
export class Token {
  start = -1;
  end = -1;
  hash = 0;
  /** It is a key as it stands: no escapes in a string, no second spelling of the number. */
  plain = true;
}

/** Reused for every line, so that reading one allocates nothing. */
export class Fields {
  /** A null, boolean or compound `id` is none. */
  readonly id = new Token();
  /** The top-level `sessionId`: a string that is not empty. */
  readonly session = new Token();
  readonly paramsSession = new Token();
  readonly resultSession = new Token();
  /** The top-level `requestId`: looked at when what is scanned is the `params` of a cancellation. */
  readonly requestId = new Token();
  /** With their quotes; strings only. */
  methodStart = -1;
  methodEnd = -1;
  poolStart = -1;
  poolEnd = -1;
  /** `params`, when it is an object or array. */
  paramsStart = -1;
  paramsEnd = -1;
  hasResult = false;
  hasError = false;
  /** The key of the top-level `sessionId` begins here: key and value are what is taken out for some workers. */
  sessionKeyStart = -1;
  sessionTwice = false;

  clear(): void {
    this.id.start = -1;
    this.session.start = -1;
    this.paramsSession.start = -1;
    this.resultSession.start = -1;
    this.requestId.start = -1;
    this.methodStart = -1;
    this.poolStart = -1;
    this.paramsStart = -1;
    this.hasResult = false;
    this.hasError = false;
    this.sessionKeyStart = -1;
    this.sessionTwice = false;
  }
}
