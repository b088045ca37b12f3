// A message of any layout as one line.

/**
 * A line break between the parts of a message is blank space, and so is a carriage return; inside a string neither may
 * stand, so a message that is wrong stays wrong, at the same place.
 */
export function asLine(message: Buffer): Buffer {
  const line = Buffer.allocUnsafe(message.length + 1);
  message.copy(line);
  line[message.length] = 10;
  for (let at = line.indexOf(10); at < message.length; at = line.indexOf(10, at + 1)) line[at] = 13;
  return line;
}
