// A worker for the bus that costs next to nothing: every line has the same length, and the same bytes of it are replaced.
// Usage: bus-echo STRIDE AT, the bytes of a line with its newline, and where `"method":"echo","params":` stands in it.

const [stride = 0, at = 0] = process.argv.slice(2).map(Number);
const ANSWER = Buffer.from('"result":                ');

let rest = Buffer.alloc(0);

process.stdin.on('data', (chunk: Buffer) => {
  const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
  const whole = bytes.length - (bytes.length % stride);
  for (let from = 0; from < whole; from += stride) ANSWER.copy(bytes, from + at);
  rest = Buffer.from(bytes.subarray(whole));
  if (whole > 0) process.stdout.write(bytes.subarray(0, whole));
});
process.stdin.on('end', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
