// What a line is made of: text, bytes, and what is made only while it is written.

/**
 * Bytes that are made while those before them are on their way: the reader has its beginning when the end is made. To be
 * gone through once; each chunk is lent until the next is asked for.
 */
export interface LongPiece {
  /** About what they come to. */
  readonly length: number;
  readonly chunks: Iterable<Uint8Array>;
}
/** Text, or bytes that are written as they are. */
export type MadePiece = string | Uint8Array;
/** A piece of a line. */
export type Piece = MadePiece | LongPiece;
/** One line without its "\n"; pieces are written one after another with nothing between. None may hold a "\n". */
export type Line = MadePiece | readonly Piece[];

export function joinPieces(pieces: readonly Piece[]): Buffer {
  const made = [...madePieces(pieces)];
  return Buffer.concat(made.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

export function isLongPiece(piece: Piece): piece is LongPiece {
  return typeof piece !== 'string' && !(piece instanceof Uint8Array);
}

/** A line with something long in it is an array: there is more to a line than that. */
export function isLong(line: Line): line is readonly Piece[] {
  return Array.isArray(line) && line.some((piece: Piece) => isLongPiece(piece));
}

/** The pieces one by one, those that were lent as copies. */
export function* madePieces(line: readonly Piece[] | Uint8Array): Generator<MadePiece> {
  for (const piece of line instanceof Uint8Array ? [line] : line) {
    if (isLongPiece(piece)) for (const chunk of piece.chunks) yield Buffer.from(chunk);
    else yield piece;
  }
}

/** About how much of the queue a line takes, without its newline. */
export function sizeOf(line: Line): number {
  if (typeof line === 'string' || line instanceof Uint8Array) return line.length;
  let size = 0;
  for (const piece of line) size += piece.length;
  return size;
}
