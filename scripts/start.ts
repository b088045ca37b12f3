// `npm start`: builds what is needed and runs the most complete server there is, with four things to try.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buildIfStale } from './build.js';
import { DIST } from './paths.js';

await buildIfStale();
const given = process.argv.slice(2);
const child = spawn(process.execPath, [join(DIST, 'bin/stringd.js'), '--json', ...given], {
  stdio: ['inherit', 'pipe', 'inherit'],
});
let said = '';
child.stdout.on('data', (chunk: Buffer) => {
  said += chunk.toString('utf8');
  const line = /^(\{.*\})\n/.exec(said)?.[1];
  if (line === undefined)
    process.stdout.write(chunk); // --help and the like
  else console.log(thingsToTry((JSON.parse(line) as { url: string }).url));
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
child.once('exit', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 130;
});

function thingsToTry(url: string): string {
  const string = `node dist/bin/string.js --port ${new URL(url).port}`;
  return [
    'stringd is running; Ctrl-C ends it. In another terminal, try:',
    '',
    '  # 1. an agent of your own, and its first command',
    `  curl -s ${url}/agents -H 'Content-Type: application/json' -d '{"agent_id":"me"}'`,
    `  curl -s ${url}/exec -H 'X-Agent-Id: me' -H 'Content-Type: application/json' -d '{"topic":"main","cmd":"/help"}'`,
    '',
    '  # 2. an app: a page whose actions look around this repository',
    `  ${string} agent add demo --allow "$PWD/examples/apps"`,
    `  ${string} --agent demo main "/install $PWD/examples/apps/gitpeek"`,
    `  ${string} --agent demo app:gitpeek "/set {repo} = \\"$PWD\\""`,
    `  ${string} --agent demo app:gitpeek /open`,
    '',
    '  # 3. a shell that remembers where it is',
    `  ${string} bash:dev 'cd /tmp && pwd'`,
    `  ${string} bash:dev`,
    '',
    '  # 4. the same for an agent that speaks MCP',
    `  claude mcp add --transport http string ${url}/mcp`,
  ].join('\n');
}
