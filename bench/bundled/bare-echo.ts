// The limit of round trips over pipes: a Node process that gives back every byte it gets and knows nothing of messages.

process.stdin.on('data', (chunk: Buffer) => void process.stdout.write(chunk));
