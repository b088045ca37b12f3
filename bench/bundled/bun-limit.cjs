// What Bun itself takes, for the suite `binary`: answers its first line as a server would, then starts programs when told to.
'use strict';

const fs = require('node:fs');

const first = Buffer.alloc(4096);
fs.readSync(0, first);
fs.writeSync(1, '{"jsonrpc":"2.0","id":1,"result":{"session_id":"none"}}\n');

const startOne = () =>
  new Promise((resolve) => {
    Bun.spawn({ cmd: ['/bin/true'], stdio: ['ignore', 'ignore', 'ignore'], detached: true, onExit: resolve });
  });

async function serve() {
  let text = '';
  for await (const chunk of Bun.stdin.stream()) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      const { id, params } = JSON.parse(text.slice(0, end));
      text = text.slice(end + 1);
      let left = params.ops;
      const work = async () => {
        while (left-- > 0) await startOne();
      };
      await Promise.all(Array.from({ length: params.atOnce }, work));
      fs.writeSync(1, `${JSON.stringify({ jsonrpc: '2.0', id, result: null })}\n`);
    }
  }
}
void serve();
