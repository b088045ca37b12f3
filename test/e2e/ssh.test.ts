// The client over a real sshd: commands, files and terminals on the other side of the user's own ssh.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTarget } from '../../src/client/rex/connect-target.js';
import type { RexClient } from '../../src/client/rex/rex-client.js';
import { needsSshd, type Sshd, startSshd } from '../helpers/sshd.js';
import { run } from '../helpers/program.js';

const possible = needsSshd();

let sshd: Sshd;
beforeAll(async () => {
  if (possible) sshd = await startSshd();
});
afterAll(async () => {
  if (possible) await sshd[Symbol.asyncDispose]();
});

async function connect(): Promise<RexClient> {
  const choice = { alias: 'box', target: sshd.target(), why: 'the test says so' };
  return await connectTarget(choice, { clientName: 'test', localCommand: [] });
}

test('plain ssh works: what follows is about us', async () => {
  const { stdout, stderr, code } = await run([...sshd.ssh, 'echo $HOME']);
  expect({ stdout, stderr, code }).toEqual({ stdout: `${sshd.home}\n`, stderr: '', code: 0 });
});

test('a command runs on the other side, with its output and its code', async () => {
  await using client = await connect();
  const ended = await client.run({ shell: true, command: 'cat; echo err >&2; exit 7', stdin: 'in' });
  expect([ended.exitCode, ended.stdout.toString(), ended.stderr.toString()]).toEqual([7, 'in', 'err\n']);
});
