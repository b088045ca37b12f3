// What a file of pixels tells about itself in its first bytes: its type and its size.

export interface ImageInfo {
  readonly type: string;
  readonly width?: number;
  readonly height?: number;
}

/** Enough for the header of every format; a JPEG with a large preview before it stays without dimensions. */
export const IMAGE_HEAD_BYTES = 256 * 1024;

/** Undefined for what is no image. */
export function describeImage(head: Buffer): ImageInfo | undefined {
  try {
    return read(head);
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined; // it ends within its own header
    throw thrown;
  }
}

function read(head: Buffer): ImageInfo | undefined {
  const ascii = (from: number, to: number): string => head.toString('latin1', from, to);
  if (ascii(0, 8) === '\u0089PNG\r\n\u001A\n')
    return { type: 'image/png', width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
  if (/^GIF8[79]a$/u.test(ascii(0, 6)))
    return { type: 'image/gif', width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
  if (ascii(0, 3) === '\u00FF\u00D8\u00FF') return { type: 'image/jpeg', ...sizeOfJpeg(head) };
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return { type: 'image/webp', ...sizeOfWebp(head) };
  if (ascii(0, 2) === 'BM' && head.length >= 26 && head.readUInt32LE(10) < 4096)
    return { type: 'image/bmp', width: head.readInt32LE(18), height: Math.abs(head.readInt32LE(22)) };
  if (ascii(0, 4) === '\0\0\u0001\0')
    return { type: 'image/x-icon', width: head.readUInt8(6) || 256, height: head.readUInt8(7) || 256 };
  if (ascii(4, 8) === 'ftyp' && /^(?:avif|avis|heic|heix|mif1)$/u.test(ascii(8, 12)))
    return { type: ascii(8, 9) === 'a' ? 'image/avif' : 'image/heic', ...sizeOfHeif(head) };
  if (/^(?:II\*\0|MM\0\*)/u.test(ascii(0, 4))) return { type: 'image/tiff' };
  return undefined;
}

type Size = Pick<ImageInfo, 'width' | 'height'>;

/** The first frame header among the segments. */
function sizeOfJpeg(head: Buffer): Size {
  for (let at = 2; at + 9 < head.length; ) {
    if (head[at] !== 0xff) return {};
    const marker = head[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) };
    const alone = marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    at += alone ? (marker === 0xff ? 1 : 2) : 2 + head.readUInt16BE(at + 2);
  }
  return {};
}

function sizeOfWebp(head: Buffer): Size {
  const kind = head.toString('latin1', 12, 16);
  if (kind === 'VP8X') return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
  if (kind === 'VP8L') {
    const bits = head.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (kind !== 'VP8 ') return {};
  return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff };
}

function sizeOfHeif(head: Buffer): Size {
  const at = head.indexOf('ispe', 0, 'latin1');
  return at === -1 ? {} : { width: head.readUInt32BE(at + 8), height: head.readUInt32BE(at + 12) };
}
