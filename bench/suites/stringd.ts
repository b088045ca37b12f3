// stringd: commands, tool calls and events through the built daemon, beside bare servers that do as little as can be done.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../harness/bundle.js';
import type { Cleanup } from '../harness/cleanup.js';
import { quantile } from '../harness/stats.js';
import type { Case, Ran, Role, Suite } from '../harness/types.js';
import { churnStreams, churnTopics, RECONNECTS, TOPICS } from './stringd/churn.js';
import { bareCommits } from './stringd/commits.js';
import type { LoadReport } from './stringd/http-load.js';
import { encodeRequest, execMessage, type Message, toolCall } from './stringd/messages.js';
import { Server } from './stringd/server.js';

const OURS = 'stringd';
const CONNECTIONS = 32;
/** What ours must be beside the limits: requests a second, and the time that 99 of 100 stay below. */
const EXEC_BOUND = 0.6;
const P99_BOUND = 4;
const MCP_BOUND = 3;
const EVENTS_PER_SECOND = 2000;
const IDLE_MIB = 90;
const START_MS = 1000;
/** Less than what a garbage collection more or less makes: a hundred bytes per topic would be seen. */
const GROWTH_MIB = 4;
const CHURN_ROUNDS = 3;
/** Where memory is watched, short-lived garbage should not be most of what is seen. */
const SMALL_NURSERY = '--max-semi-space-size=1';
const START_ROUNDS = 9;
const EVENT_TEXT = 'build 4711 of main has failed: 3 of 1204 tests, see the log';

interface Stage {
  readonly cleanup: Cleanup;
  readonly folder: string;
  /** Ours first, then the peers. */
  readonly servers: readonly Server[];
  readonly stand: (name: string, role: Role, argv: readonly string[], isStringd?: boolean) => Server;
}

export const stringdSuite: Suite = {
  name: 'stringd',
  summary:
    'commands, tool calls and events through the built stringd, vs bare node:http, the bare SDK and bare commits',
  peerSpeaks: 'stringd',
  async prepare({ root, peers }, cleanup) {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-bench-stringd-'));
    cleanup.use({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }) });
    let made = 0;
    const stand: Stage['stand'] = (name, role, argv, isStringd = true) =>
      cleanup.use(new Server({ name, role, argv, isStringd, folder: join(folder, String(made++)) }));
    const script = join(root, 'dist/bin/stringd.js');
    const all = (...flags: string[]): Server[] => [
      stand(OURS, 'ours', [process.execPath, ...flags, script]),
      ...peers.map(({ name, argv }) => stand(name, 'peer', argv)),
    ];
    const stage: Stage = { cleanup, folder, servers: all(), stand };
    return [
      ...(await execCases(stage)),
      ...(await mcpCases(stage)),
      await eventCase(stage),
      startCase(all()),
      idleCase(all()),
      ...churnCases(all(SMALL_NURSERY)),
    ];
  },
};

async function execCases({ servers, stand }: Stage): Promise<Case[]> {
  const message = (connection: number): Message => execMessage(topicOf(connection), '/info');
  const sample = await answerOf(servers, message(0));
  const script = await bundle(new URL('../bundled/bare-http.ts', import.meta.url));
  const argv = [process.execPath, script, '{port}', JSON.stringify(sample.headers), sample.text];
  const bare = stand('bare node:http', 'limit', argv, false);
  const contenders = (count: (report: LoadReport) => number) =>
    [bare, ...servers].map((server) =>
      server.contender(async (ops) => count(await drive(server, { name: 'exec', message, ops }))),
    );
  return [
    {
      name: `/exec of /info, ${CONNECTIONS} connections`,
      measure: 'rate',
      unit: 'requests per second',
      scale: 1,
      contenders: contenders(({ wallMs }) => wallMs),
      targets: [{ contender: OURS, bound: EXEC_BOUND }],
    },
    {
      name: `/exec of /info, ${CONNECTIONS} connections, 99th percentile`,
      measure: 'time',
      unit: 'ms',
      scale: 1,
      contenders: contenders(
        ({ latenciesMs }) => quantile([...latenciesMs.sort()], 0.99) * latenciesMs.length,
      ),
      targets: [{ contender: OURS, bound: P99_BOUND }],
      wallOnly: true,
    },
  ];
}

async function mcpCases({ servers, stand }: Stage): Promise<Case[]> {
  const script = await bundle(new URL('../bundled/bare-mcp.ts', import.meta.url));
  const sample = await answerOf(servers, toolCall('initialize era', topicOf(0), '/info'));
  const { result } = JSON.parse(sample.text) as { result: { content: { text: string }[] } };
  const text = result.content[0]?.text ?? '';
  const sdk = stand('bare SDK handler', 'limit', [process.execPath, script, '{port}', text], false);
  return (['initialize era', '2026-07-28'] as const).map((era) => {
    const message = (connection: number): Message => toolCall(era, topicOf(connection), '/info');
    return {
      name: `/mcp tools/call (${era}), ${CONNECTIONS} connections`,
      measure: 'rate',
      unit: 'requests per second',
      scale: 1,
      contenders: [sdk, ...servers].map((server) =>
        server.contender(async (ops) => (await drive(server, { name: era, message, ops })).wallMs),
      ),
      targets: [{ contender: OURS, bound: MCP_BOUND }],
    };
  });
}

async function eventCase({ cleanup, folder, servers }: Stage): Promise<Case> {
  return {
    name: `events by webhook, ${CONNECTIONS} connections`,
    measure: 'rate',
    unit: 'durable events per second',
    scale: 1,
    contenders: [
      await bareCommits(join(folder, 'commits'), EVENT_TEXT, cleanup),
      ...servers.map((server) => {
        let path: string | undefined;
        return server.contender(async (ops) => {
          const webhook = (path ??= await server.webhookPath());
          const message = (): Message => ({
            method: 'POST',
            path: webhook,
            headers: { 'Content-Type': 'text/plain' },
            body: EVENT_TEXT,
          });
          return (await drive(server, { name: 'events', message, ops, status: 202 })).wallMs;
        });
      }),
    ],
    targets: [],
    figureBound: EVENTS_PER_SECOND,
    wallOnly: true,
  };
}

/** On the folder of the last time, as after a crash. */
function startCase(servers: readonly Server[]): Case {
  return {
    name: 'start to the first answer',
    measure: 'time',
    unit: 'ms',
    scale: 1,
    contenders: servers.map((server) =>
      server.contender(async () => {
        await server.stop();
        const startedAt = performance.now();
        await server.start();
        return performance.now() - startedAt;
      }),
    ),
    targets: [],
    figureBound: START_MS,
    maxRounds: START_ROUNDS,
    wallOnly: true,
  };
}

function idleCase(servers: readonly Server[]): Case {
  return {
    name: 'memory when idle, with one agent and one topic',
    measure: 'time',
    unit: 'ms',
    scale: 1,
    contenders: servers.map((server) =>
      server.contender(async () => {
        const message = (): Message => execMessage(topicOf(0), '/info');
        return (await drive(server, { name: 'idle', message, ops: 1, connections: 1 })).wallMs;
      }),
    ),
    targets: [],
    maxMemoryMiB: IDLE_MIB,
    maxRounds: START_ROUNDS,
  };
}

function churnCases(servers: readonly Server[]): Case[] {
  const rows: [string, (server: Server) => Promise<Ran>][] = [
    [`${TOPICS} topics opened and closed`, churnTopics],
    [`${RECONNECTS} streams left and taken up again`, churnStreams],
  ];
  return rows.map(([name, churn]) => ({
    name,
    measure: 'time',
    unit: 'ms',
    scale: 1,
    contenders: servers.map((server) => server.contender(() => churn(server))),
    targets: [],
    maxGrowthMiB: GROWTH_MIB,
    maxRounds: CHURN_ROUNDS,
  }));
}

interface Drive {
  readonly name: string;
  readonly message: (connection: number) => Message;
  readonly ops: number;
  readonly status?: number;
  readonly connections?: number;
}

function drive(server: Server, order: Drive): Promise<LoadReport> {
  const { name, message, ops, status = 200, connections = CONNECTIONS } = order;
  const requests = Array.from({ length: connections }, (_, i) => encodeRequest(message(i)));
  const requestOf = (connection: number): Buffer => requests[connection] as Buffer;
  return server.load(name, { connections, status, requestOf }, ops);
}

/** All of one length, so that all answers are. */
function topicOf(connection: number): string {
  return `load-${String(connection).padStart(2, '0')}`;
}

/** What ours says to a message, for those that only repeat it. */
async function answerOf(
  [ours]: readonly Server[],
  { path, method, headers, body }: Message,
): Promise<{ text: string; headers: Record<string, string> }> {
  if (ours === undefined) throw new TypeError('nobody to ask');
  await ours.start();
  const answer = await fetch(`http://127.0.0.1:${ours.port}${path}`, {
    method,
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { body }),
  });
  const own = [...answer.headers].filter(([name]) => !OWN_HEADERS.has(name));
  return { text: await answer.text(), headers: Object.fromEntries(own) };
}

/** What node:http writes by itself, or counts. */
const OWN_HEADERS = new Set(['date', 'keep-alive', 'content-length']);
