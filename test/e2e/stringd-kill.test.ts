// kill -9 of the daemon, again and again, under load: what was acknowledged is there, and nothing is left behind.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeBase, ME, StringdUnderTest } from '../conformance/kit/stringd-under-test.js';
import { descendants } from '../helpers/proc.js';
import { until } from '../helpers/wait.js';
import { removeFolder } from '../helpers/remove-folder.js';

const KILLS = Number(process.env['STRINGD_KILLS'] ?? 15);
const POSTERS = 8;

test(`${KILLS} kills: every event answered by 202 is there, agents.json parses, no shell is left`, async () => {
  const base = makeBase();
  const acknowledged = new Set<string>();
  let port: number | undefined;
  try {
    for (let round = 0; round < KILLS; round++) {
      await using stringd = await StringdUnderTest.start({ base, ...(port !== undefined && { port }) });
      port = stringd.port;
      await stringd.exec('bash:dev', `export ROUND=${round}`);
      const children = descendants(stringd.child.pid ?? 0).map(({ pid }) => pid);
      const webhook = await stringd.webhook();
      const before = acknowledged.size;
      const posters = Array.from({ length: POSTERS }, (_, i) =>
        postUntilDead(stringd, webhook, `${round}-${i}`, acknowledged),
      );
      const churn = registerUntilDead(stringd, round);
      await until(() => acknowledged.size > before + 20 + Math.random() * 100, 'some load');
      stringd.child.kill('SIGKILL');
      await Promise.all([...posters, churn]);
      await stringd.ended;
      JSON.parse(readFileSync(join(base, 'string/daemon/agents.json'), 'utf8'));
      await until(() => children.every((pid) => !isAlive(pid)), 'the shells to be gone');
    }
    await using last = await StringdUnderTest.start({ base });
    const found = new Set<string>();
    using stream = last.stream('/events/stream', { headers: ME });
    await until(
      () => {
        for (const { id } of stream.events) if (id !== undefined) found.add(id);
        return found.size >= acknowledged.size && [...acknowledged].every((id) => found.has(id));
      },
      `all of ${acknowledged.size} events`,
      60_000,
    );
    expect([...acknowledged].filter((id) => !found.has(id))).toEqual([]);
  } finally {
    removeFolder(base);
  }
}, 300_000);

async function postUntilDead(
  stringd: StringdUnderTest,
  webhook: string,
  name: string,
  acknowledged: Set<string>,
): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      const { status, json } = await stringd.ask(webhook, { method: 'POST', body: `${name}-${i}` });
      if (status === 202) acknowledged.add(String(json['event_id']));
    } catch {
      return;
    }
  }
}

async function registerUntilDead(stringd: StringdUnderTest, round: number): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      await stringd.ask('/agents', {
        json: { agent_id: `extra-${round}-${i % 10}`, allowed_paths: [`/tmp/${i}`] },
      });
    } catch {
      return;
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
