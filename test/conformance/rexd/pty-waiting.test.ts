// REXD v1: programs that wait for something to be typed are told from those that are busy.

import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { Terminal } from '../kit/pty-client.js';
import { verifies } from '../kit/verifies.js';

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

async function isWaiting(client: ExecClient, { processId }: Terminal): Promise<unknown> {
  const state = await client.ask('exec.wait', { process_id: processId, timeout_ms: 1 });
  return state['waiting_for_input'];
}

const untilWaiting = async (client: ExecClient, terminal: Terminal, name: string): Promise<void> => {
  await until(async () => (await isWaiting(client, terminal)) === true, `${name} to wait for input`);
};

/** Each announces itself, reads a line from the terminal, says so, and is busy for good. */
const BUSY = 'while :; do :; done';
const READERS: Record<string, readonly string[]> = {
  'read in sh': ['sh', '-c', `printf '> '; read line; echo "got $line."; ${BUSY}`],
  'cat below a shell': ['sh', '-c', `printf '> '; line=$(head -n1 </dev/tty); echo "got $line."; ${BUSY}`],
  ...(has('bash') && {
    'read in bash': ['bash', '-c', `printf '> '; read line; echo "got $line."; ${BUSY}`],
    'read -s, as for a password': ['bash', '-c', `read -s -p '> ' line; echo "got $line."; ${BUSY}`],
    'read -e, with readline': ['bash', '-c', `read -e -p '> ' line; echo "got $line."; ${BUSY}`],
    'read with a timeout': ['bash', '-c', `read -t 60 -p '> ' line; echo "got $line."; ${BUSY}`],
  }),
  ...(has('python3') && {
    'input() in python': ['python3', '-c', `print('got ' + input('> ') + '.', flush=True)\nwhile True: pass`],
    'getpass in python': [
      'python3',
      '-c',
      `import getpass\nprint('got ' + getpass.getpass('> ') + '.', flush=True)\nwhile True: pass`,
    ],
  }),
  'readline in node': [
    process.execPath,
    '-e',
    `const fs = require('node:fs');
     require('node:readline').createInterface({ input: process.stdin, output: process.stdout }).question('> ', (line) => {
       fs.writeSync(1, 'got ' + line + '.');
       for (;;);
     });`,
  ],
};

for (const [name, argv] of Object.entries(READERS))
  verifies('rexd/pty/waiting', async () => {
    await using client = await ExecClient.open();
    const terminal = await Terminal.open(client, { argv });
    await terminal.shows('> ');
    await untilWaiting(client, terminal, name);
    await terminal.type('Ada\r');
    await terminal.shows('got Ada.');
    for (let n = 0; n < 5; n++) expect(await isWaiting(client, terminal), name).toBe(false);
  });

verifies('rexd/pty/waiting', async () => {
  await using client = await ExecClient.open();
  const busy: Record<string, string> = {
    computing: BUSY,
    sleeping: 'sleep 60; :',
    'reading a pipe': 'sleep 60 | cat',
    'reading a FIFO': 'mkfifo pipe; (sleep 60 >pipe) & cat pipe',
    'waiting for a job': 'sleep 60 & wait',
    'reading in the background': '(sleep 0.1; cat </dev/null) & sleep 60',
  };
  for (const [name, command] of Object.entries(busy)) {
    const terminal = await Terminal.open(client, { shell: true, command: `printf 'ready.'; ${command}` });
    await terminal.shows('ready.');
    for (let n = 0; n < 20; n++) expect(await isWaiting(client, terminal), name).not.toBe(true);
    await terminal.close();
    expect(await isWaiting(client, terminal), name).toBe(false);
  }
});

verifies('rexd/pty/waiting', async () => {
  await using client = await ExecClient.open();
  const shell = await Terminal.open(client, { argv: ['sh', '-i'], env: { PS1: 'ask> ', ENV: '' } });
  await shell.shows('ask> ');
  await untilWaiting(client, shell, 'the shell');
  await shell.type('echo started; sleep 60\r');
  await shell.shows('started\r\n');
  await until(async () => (await isWaiting(client, shell)) === false, 'the shell to wait for its job');
  await shell.type('\u0003');
  await untilWaiting(client, shell, 'the shell again');
});
