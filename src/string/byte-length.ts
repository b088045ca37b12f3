// How many bytes a text takes.

export function byteLengthOf(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
