// The lines that go through a bus: all of one length, so that whoever counts bytes has counted messages.

/** Where in a line the echo worker writes its answer, and how long each line is. */
export interface LineShape {
  readonly bytes: number;
  readonly echoAt: number;
}

const ID_DIGITS = 6;
const HEAD = `{"jsonrpc":"2.0","id":"${'0'.repeat(4)}-${'0'.repeat(ID_DIGITS)}",`;
const ECHO = '"method":"echo","params":';

export function shapeOf(bytes: number): LineShape {
  return { bytes, echoAt: HEAD.length };
}

/** `count` requests in one buffer. Ids tell clients and requests apart, unless `colliding`: then clients use the same. */
export function requestBlock(
  bytes: number,
  { client, first, count, colliding }: { client: number; first: number; count: number; colliding: boolean },
): Buffer {
  const lines = Array.from({ length: count }, (_, i) => {
    const who = String(colliding ? 0 : client).padStart(4, '0');
    const head = `{"jsonrpc":"2.0","id":"${who}-${String(first + i).padStart(ID_DIGITS, '0')}",${ECHO}{"pad":"`;
    return `${head}${'x'.repeat(bytes - head.length - 4)}"}}\n`;
  });
  return Buffer.from(lines.join(''));
}

/** The answer to a request, as the echo worker gives it. */
export function answerTo(request: string): string {
  return request.replace(ECHO, '"result":                ');
}
