// The daemon started, ended and looked at; what is odd about its place is told in plain words.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LocalError, toError } from '../../base/errors.js';
import { findLockHolder } from '../../host/store/file-lock.js';
import type { Health, StringClient } from '../../client/string/string-client.js';
import { EXIT } from '../exit-codes.js';
import type { StringContext } from './context.js';
import { explain } from './execute.js';

/** How long a daemon may take to end: shells get a moment to put things in order. */
const STOP_WAIT_MS = 20_000;
const LOOK_PAUSE_MS = 20;
/** For whatever has the port to say who it is. */
export const LOOK_TIMEOUT_MS = 3000;

export async function startDaemon(context: StringContext, json: boolean): Promise<number> {
  const { port } = context.config;
  const client = await context.client();
  const isNew = await client.start().catch((thrown: unknown) => {
    throw explain(thrown, context);
  });
  const pid = (await look(context, client)).health?.pid;
  if (json)
    return await context.print(JSON.stringify({ started: isNew, port, url: client.url, pid: pid ?? null }));
  const who = pid === undefined ? '' : ` (pid ${pid})`;
  return await context.print(
    isNew ? `stringd started on port ${port}${who}` : `stringd already running on port ${port}${who}`,
  );
}

export async function stopDaemon(context: StringContext, json: boolean): Promise<number> {
  const client = await context.client();
  const found = await look(context, client);
  const say = (stopped: boolean, text: string): Promise<number> =>
    context.print(json ? JSON.stringify({ stopped, port: context.config.port }) : text);
  if (found.health === undefined) {
    if (found.problem !== undefined) context.say(`string: ${found.problem}`);
    await say(false, 'stringd is not running');
    return found.isInTheWay === true ? EXIT.failed : EXIT.ok;
  }
  const { pid } = found.health;
  await client.shutdown().catch((thrown: unknown) => {
    throw explain(thrown, context);
  });
  if (!(await isGoneInTime(context, client, pid)))
    context.fail(
      `stringd was told to end and still runs after ${STOP_WAIT_MS / 1000} s`,
      pid === undefined ? undefined : `End it with: kill ${pid}`,
    );
  return await say(true, 'stringd stopped');
}

export async function showStatus(context: StringContext, json: boolean): Promise<number> {
  const { port, dataDir } = context.config;
  const client = await context.client();
  const { health, problem } = await look(context, client);
  if (health === undefined) {
    const text = 'stringd is not running';
    await context.print(
      json
        ? JSON.stringify({
            running: false,
            port,
            data_dir: dataDir,
            ...(problem !== undefined && { problem }),
          })
        : text,
    );
    if (!json) context.say(problem ?? 'Start it with: string daemon start');
    return EXIT.failed;
  }
  const { version, agents, sessions, pid } = health;
  const isOurs = pid === undefined || isHeldBy(context, pid);
  if (json)
    return await context.print(
      JSON.stringify({
        running: true,
        port,
        url: client.url,
        pid: pid ?? null,
        version: version ?? null,
        agents,
        sessions,
        data_dir: isOurs ? dataDir : null,
      }),
    );
  const about = [
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    ...(version === undefined ? [] : [`version ${version}`]),
    isOurs ? `data in ${dataDir}` : `with another data folder than ${dataDir}`,
  ];
  return await context.print(
    `stringd running on port ${port} — ${agents} agent(s), ${sessions} session(s)\n${about.join(', ')}`,
  );
}

interface Found {
  readonly health?: Health;
  /** What is odd about a place where no daemon answers. */
  readonly problem?: string;
  /** A daemon could not be started here. */
  readonly isInTheWay?: boolean;
}

async function look(context: StringContext, client: StringClient): Promise<Found> {
  try {
    return { health: await client.health({ timeoutMs: LOOK_TIMEOUT_MS, signal: context.signal }) };
  } catch (thrown) {
    context.signal.throwIfAborted();
    if (!(thrown instanceof LocalError)) throw thrown;
    return explainAbsence(context, thrown.code);
  }
}

function explainAbsence(context: StringContext, code: string): Found {
  const { port, dataDir } = context.config;
  const { holder, problem } = holderOf(context);
  if (code !== 'UNREACHABLE' && code !== 'timeout')
    return {
      problem: `port ${port} is used by another program, which is not stringd; choose another one with --port or STRING_PORT`,
      isInTheWay: true,
    };
  if (holder?.state === 'alive')
    return {
      problem: `process ${holder.pid} has ${dataDir} and does not answer on port ${port}: it has another port, or hangs; end it with: kill ${holder.pid}`,
      isInTheWay: true,
    };
  if (code === 'timeout')
    return {
      problem: `something has port ${port} and says nothing for ${LOOK_TIMEOUT_MS / 1000} s: another program, or a stringd that hangs; choose another port with --port or STRING_PORT`,
      isInTheWay: true,
    };
  if (problem !== undefined) return { problem, isInTheWay: true };
  if (holder?.state === 'gone')
    return {
      problem: `process ${holder.pid} was killed and has left its lock in ${dataDir}; the next start takes it over`,
    };
  return {};
}

interface Holding {
  readonly holder?: NonNullable<ReturnType<typeof findLockHolder>>;
  /** Why nobody can tell. */
  readonly problem?: string;
}

function holderOf({ config: { dataDir } }: StringContext): Holding {
  try {
    const holder = findLockHolder(join(dataDir, 'stringd'));
    return holder === undefined ? {} : { holder };
  } catch (thrown) {
    return { problem: `${dataDir} cannot be used as the data folder: ${toError(thrown).message}` };
  }
}

function isHeldBy(context: StringContext, pid: number): boolean {
  const { holder } = holderOf(context);
  return holder?.pid === pid && holder.state !== 'gone';
}

async function isGoneInTime(
  context: StringContext,
  client: StringClient,
  pid: number | undefined,
): Promise<boolean> {
  const until = performance.now() + STOP_WAIT_MS;
  while (performance.now() < until) {
    const isHeld = pid !== undefined && isHeldBy(context, pid);
    if (!isHeld && !(await client.ping())) return true;
    await delay(LOOK_PAUSE_MS, undefined, { signal: context.signal });
  }
  return false;
}
