// What kind of file some first bytes belong to.

const IMAGES: readonly { readonly mimeType: string; readonly begins: Buffer; readonly at?: number }[] = [
  { mimeType: 'image/png', begins: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { mimeType: 'image/jpeg', begins: Buffer.from([0xff, 0xd8, 0xff]) },
  { mimeType: 'image/gif', begins: Buffer.from('GIF8') },
  { mimeType: 'image/webp', begins: Buffer.from('WEBP'), at: 8 },
];

/** Of a kind that models can look at. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  return IMAGES.find(({ begins, at = 0 }) => bytes.subarray(at, at + begins.length).equals(begins))?.mimeType;
}

const SAMPLE_BYTES = 8 * 1024;

/** A NUL near the beginning: no text has one, whatever its encoding (but for UTF-16, which no tool here could edit). */
export function looksBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, SAMPLE_BYTES).includes(0);
}
