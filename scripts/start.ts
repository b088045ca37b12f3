// `npm start`: builds what is needed and runs the most complete server there is.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buildIfStale } from './build.js';
import { DIST } from './paths.js';

await buildIfStale();
const given = process.argv.slice(2);
const args = given.length > 0 ? given : ['--stdio', '--root', process.cwd()];
if (given.length === 0 && process.stdin.isTTY) {
  console.error(
    [
      `rexd is serving ${process.cwd()} on this terminal. Paste a line:`,
      '  {"jsonrpc":"2.0","id":1,"method":"session.open","params":{"client_name":"me"}}',
      'Ctrl-D ends it. `npm start -- --help` shows what else it can do.',
    ].join('\n'),
  );
}
const child = spawn(process.execPath, [join(DIST, 'bin/rexd.js'), ...args], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
child.once('exit', (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 130;
});
