// Links to a daemon that are cut while commands stream: complete, in order, and each command once.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHttpLink } from '../../src/client/rex/http-link.js';
import { RexClient } from '../../src/client/rex/rex-client.js';
import { openUnixLink } from '../../src/client/rex/unix-link.js';
import { openWebSocketLink } from '../../src/client/rex/websocket-link.js';
import type { Link } from '../../src/wire/transport/link.js';
import { DaemonUnderTest, TOKEN } from '../helpers/daemon.js';
import { isAlive } from '../helpers/proc.js';
import { Relay } from '../helpers/relay.js';
import { until } from '../helpers/wait.js';
import { runs } from '../helpers/runs.js';

const CUTS = runs(12, 5);
const LINES = 300;

let daemon: DaemonUnderTest;
let relay: Relay;
beforeAll(async () => {
  daemon = await DaemonUnderTest.start({ args: ['--http', '127.0.0.1:0', '--unix', '{base}/s'] });
  relay = await Relay.to(Number(new URL(daemon.url).port));
});
afterAll(async () => {
  await relay[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

interface Way {
  readonly open: () => Promise<Link>;
  readonly cut: () => void;
}

let socket: Awaited<ReturnType<typeof openUnixLink>> | undefined;
const address = (): string => `http://127.0.0.1:${relay.port}`;
const WAYS: Readonly<Record<'ws' | 'unix' | 'http', Way>> = {
  ws: { open: () => openWebSocketLink({ url: address(), token: TOKEN }), cut: () => relay.reset() },
  unix: {
    open: async () => (socket = await openUnixLink(join(daemon.base, 's'))),
    cut: () => socket?.input.destroy(new Error('cut')),
  },
  // Each request is a connection: the link itself asks again, and no session has to be resumed.
  http: {
    open: () => Promise.resolve(openHttpLink({ url: address(), token: TOKEN })),
    cut: () => relay.reset(),
  },
};

test.each(['ws', 'unix', 'http'] as const)(
  `over %s, cut ${CUTS} times, every command runs once and its output is complete and in order`,
  async (name) => {
    const way = WAYS[name];
    let resumed = 0;
    const client = await RexClient.open(await way.open(), {
      clientName: name,
      reconnect: { connect: () => way.open(), onResumed: () => (resumed += 1) },
    });
    expect(client.resumable).toBe(true);
    const over = new AbortController();
    let ran = 0;
    const work = async (worker: number): Promise<void> => {
      for (let n = 0; !over.signal.aborted || n === 0; n += 1) {
        const tag = `${worker}.${n}`;
        const command = `echo ran >> ran.${tag}; i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "${tag} $i"; [ $((i % 30)) -ne 0 ] || sleep 0.01; done; exit 7`;
        const { stdout, exitCode } = await client.run({ shell: true, command });
        const expected = Array.from({ length: LINES }, (_, i) => `${tag} ${i + 1}\n`).join('');
        expect([stdout.toString() === expected, exitCode]).toEqual([true, 7]);
        ran += 1;
      }
    };
    const workers = [0, 1, 2].map(work);
    for (let cut = 0; cut < CUTS; cut += 1) {
      await delay(20 + Math.random() * 150); // not to wait for anything, but to be anywhere
      way.cut();
      if (name !== 'http') await until(() => resumed > cut, `connection ${cut + 1}`);
    }
    over.abort();
    await Promise.all(workers);
    const marks = readdirSync(daemon.root).filter((file) => file.startsWith('ran.'));
    expect(marks).toHaveLength(ran);
    for (const mark of marks) {
      expect(readFileSync(join(daemon.root, mark), 'utf8'), mark).toBe('ran\n');
      rmSync(join(daemon.root, mark));
    }
    const { pid = 0 } = await client.start({ argv: ['sleep', '1000'] });
    await client.close();
    await until(() => !isAlive(pid), 'the end of what the client ran');
  },
);
