// REXD v1: programs below a detached one that pretend to be somebody else, by the mark or the name they give themselves.

import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { inTime } from '../kit/in-time.js';
import { verifies } from '../kit/verifies.js';

const TIMEOUT_MS = 2000;
/** Below a command that stays, one with a mark of its own making and one that has a session of its own beside. */
const FORGERS = `
  echo all $$.
  HAWSER_MARK=d_00000000000000000000000000 sh -c 'echo one $$.; exec sleep 1000' &
  HAWSER_MARK=d_00000000000000000000000000 setsid sh -c 'echo two $$.; exec sleep 1000' &
  wait`;

for (const end of ['exec.kill', 'exec.kill of another server', 'timeout'] as const)
  verifies('rexd/ground/forged-mark', async () => {
    await using first = await ExecClient.open();
    const { id, pids } = await inTime(TIMEOUT_MS, async (timeout_ms) => {
      const command = { shell: true, command: FORGERS, detach: true };
      const started = await first.start({ ...command, ...(end === 'timeout' && { timeout_ms }) });
      const said = await saidBy(first, started, ['all', 'one', 'two']);
      return said && { id: started, pids: said };
    });
    if (end === 'exec.kill') await first.ask('exec.kill', { process_id: id });
    else {
      first.rexd.child.kill('SIGKILL');
      await first.rexd.ended;
      await using second = await ExecClient.open({ beside: first });
      if (end !== 'timeout') await second.ask('exec.kill', { process_id: id });
    }
    await until(() => !pids.some(isAlive), 'the end of all three');
  });

verifies('rexd/ground/forged-mark', async () => {
  await using client = await ExecClient.open();
  const other = await client.openSession();
  const attached = await client.start({
    session_id: other,
    shell: true,
    command: 'echo all $$.; exec sleep 1000',
  });
  const [theirs = 0] = (await saidBy(client, attached, ['all'])) ?? [];
  const mark = /(?:^|\0)HAWSER_MARK=([^\0]+)/.exec(readFileSync(`/proc/${theirs}/environ`, 'latin1'))?.[1];
  const id = await client.start({
    shell: true,
    command: `echo all $$.; HAWSER_MARK=${mark} setsid sh -c 'echo one $$.; exec sleep 1000' & wait; exec sleep 1000`,
    detach: true,
  });
  const [detached = 0, forger = 0] = (await saidBy(client, id, ['all', 'one'])) ?? [];
  await client.ask('session.close', { session_id: other });
  await until(() => !isAlive(forger) && !isAlive(theirs), 'the end of what carries that mark');
  expect(isAlive(detached)).toBe(true);
  await client.ask('exec.kill', { process_id: id, signal: 'KILL' });
  await until(() => !isAlive(detached), 'the end of the detached one');
});

for (const detach of [true, false])
  verifies('rexd/ground/forged-name', async () => {
    await using client = await ExecClient.open();
    await using bystander = await ExecClient.open();
    const theirs = await bystander.start({ shell: true, command: 'echo all $$.; exec sleep 1000' });
    const [victim = 0] = (await saidBy(bystander, theirs, ['all'])) ?? [];
    const name = join(client.root, `x\n${victim} (y`);
    symlinkSync('/bin/sleep', name);
    const pids = await inTime(TIMEOUT_MS, async (timeout_ms) => {
      const id = await client.start({
        shell: true,
        command: `echo all $$.; env -i "$NAMED" 1000 & echo one $!.; wait`,
        env: { NAMED: name },
        ...(detach && { detach: true, timeout_ms }),
      });
      const said = await saidBy(client, id, ['all', 'one']);
      const isOver = (): boolean => client.events(id).some(({ method }) => method === 'exec.exit');
      const isNamed = (): boolean => nameOf(said?.[1]).startsWith('x');
      await until(() => isOver() || isNamed(), 'its name');
      return isNamed() ? said : undefined;
    });
    client.rexd.child.kill('SIGKILL');
    await client.rexd.ended;
    await until(() => !pids.some(isAlive), 'the end of both');
    expect(isAlive(victim)).toBe(true);
  });

/** The numbers of those who have said one; undefined when the process ends before. */
async function saidBy(
  client: ExecClient,
  id: string,
  names: readonly string[],
): Promise<number[] | undefined> {
  return await client.said(id, (text) => {
    const found = names.map((name) => new RegExp(`\\b${name} (\\d+)\\.`).exec(text)?.[1]);
    return found.every((pid) => pid !== undefined) ? found.map(Number) : undefined;
  });
}

/** Empty when it is gone. */
function nameOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1');
  } catch {
    return '';
  }
}
