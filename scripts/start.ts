// `npm start`: builds what is needed and runs the most complete server there is, with four things to try.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildIfStale } from './build.js';
import { DIST } from './paths.js';

/** From one look at those who have started us to the next. */
const LOOK_PAUSE_MS = 250;
/** Between npm and us: a shell, and tsx with a process of its own. */
const MAX_STARTERS = 8;

const starters = findStarters();
await buildIfStale();
const given = process.argv.slice(2);
const child = spawn(
  process.execPath,
  [join(DIST, 'bin/stringd.js'), '--json', '--end-with-stdin', ...given],
  {
    stdio: ['pipe', 'pipe', 'inherit'],
  },
);
child.stdin.on('error', () => {}); // it has ended by itself
let said = '';
child.stdout.on('data', (chunk: Buffer) => {
  said += chunk.toString('utf8');
  const line = /^(\{.*\})\n/.exec(said)?.[1];
  if (line === undefined)
    process.stdout.write(chunk); // --help and the like
  else console.log(thingsToTry((JSON.parse(line) as { url: string }).url));
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
// One of them that is killed takes nobody along, and no Ctrl-C would reach us any more.
const look = setInterval(() => {
  if (starters.some((starter) => startOf(starter.pid) !== starter.start)) child.stdin.end();
}, LOOK_PAUSE_MS);
child.once('exit', (code, signal) => {
  clearInterval(look);
  process.exitCode = signal === null ? (code ?? 1) : 130;
});

interface Starter {
  readonly pid: number;
  /** What tells it from another that has got its number. */
  readonly start: string | undefined;
}

/** From our parent up to npm; only those of tsx when there is no npm. Where there is no /proc, nobody. */
function findStarters(): Starter[] {
  const found: (Starter & { readonly command: string })[] = [];
  for (let pid = process.ppid; pid > 1 && found.length < MAX_STARTERS; ) {
    const fields = fieldsOf(pid);
    if (fields === undefined) break;
    const command = read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ') ?? '';
    found.push({ pid, start: startOf(pid), command });
    if (/\bnpm\b/u.test(command)) return found;
    pid = Number(fields[1]);
  }
  return found.filter(({ command }) => /\btsx\b/u.test(command));
}

function startOf(pid: number): string | undefined {
  const fields = fieldsOf(pid);
  return fields?.[0] === 'Z' ? undefined : fields?.[19];
}

/** Of /proc/PID/stat, those behind the name, which may have blanks in it: state, parent, … and when it was started. */
function fieldsOf(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

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
