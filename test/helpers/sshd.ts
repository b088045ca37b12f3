// A real sshd on loopback, with keys, a home and a configuration of its own; gone when the test ends, with all it started.

import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { SshTarget } from '../../src/client/rex/target.js';
import { freePort } from './free-port.js';
import { MARK } from './orphan-census.js';
import { descendants, isAlive, killAll, markedWith, type Running } from './proc.js';
import { bin } from './program.js';
import { until } from './wait.js';
import { removeFolder } from './remove-folder.js';

/** Debian puts it where only root's PATH leads. */
const SSHD = '/usr/sbin/sshd';
/** Compiled into sshd: as root it starts only when this folder is there. */
const PRIVILEGE_FOLDER = '/run/sshd';
const START_TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 5;

export interface SshdOptions {
  /** More lines of sshd_config; they come first, and the first value counts. */
  readonly server?: readonly string[];
  /** More lines for the host `box` in the client's configuration; they come first too. */
  readonly client?: readonly string[];
  /** What the login shell reads before it runs a command. */
  readonly bashrc?: string;
  /** Environment of every login. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Sshd extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** Everything below is in here. It is removed in the end. */
  readonly folder: string;
  /** The home of whoever logs in: HOME, and where the command's rexd keeps its state. */
  readonly home: string;
  /** For `ssh -F`: knows the host `box`. */
  readonly config: string;
  readonly knownHosts: string;
  readonly userKey: string;
  /** The words of a command line up to the host: `ssh -F config box`. */
  readonly ssh: readonly [string, ...string[]];
  /** The built rexd on the far side, with the home as its root. */
  readonly rexd: string;
  target(over?: Partial<SshTarget>): SshTarget;
  /** What sshd has logged. */
  log(): string;
  /** The processes that sshd has for its connections, the listener left out. */
  connections(): Running[];
  /** Everything that was started by logins and still runs, wherever it was reparented to. */
  started(): Running[];
}

/** What is missing for one, if anything is. */
export function whyNoSshd(): string | undefined {
  if (!existsSync(SSHD)) return `there is no ${SSHD} (Debian: openssh-server)`;
  if (spawnSync('ssh', ['-V']).error !== undefined) return 'there is no ssh (Debian: openssh-client)';
  return undefined;
}

/** Resolves when it listens. */
export async function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  if (process.getuid?.() === 0) mkdirSync(PRIVILEGE_FOLDER, { recursive: true, mode: 0o755 });
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-sshd-')));
  try {
    for (const name of ['host_key', 'user_key']) makeKey(join(folder, name), name);
    return await listen(folder, options);
  } catch (thrown) {
    removeFolder(folder);
    throw thrown;
  }
}

/** sshd cannot be told "any port": one that was free a moment ago is tried, and another if it was taken meanwhile. */
async function listen(folder: string, options: SshdOptions): Promise<Sshd> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const mark = [process.env[MARK], `sshd-${randomUUID()}`].filter(Boolean).join('/');
    const files = writeFiles(folder, { port, mark, options });
    const child = spawn(SSHD, ['-D', '-e', '-f', files.serverConfig], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
    const exited = once(child, 'close');
    const ready = (): boolean => {
      if (child.exitCode !== null) throw new Error(`sshd ended: ${log}`);
      return log.includes('Server listening on');
    };
    try {
      await until(ready, 'sshd to listen', START_TIMEOUT_MS);
    } catch (thrown) {
      child.kill('SIGKILL');
      await exited;
      if (attempt < MAX_ATTEMPTS && log.includes('Address already in use')) continue;
      throw thrown;
    }
    return describe({ child, exited, folder, port, mark, log: () => log, ...files });
  }
}

interface Files {
  readonly serverConfig: string;
  readonly config: string;
  readonly knownHosts: string;
  readonly userKey: string;
  readonly home: string;
}

interface Facts extends Files {
  readonly child: ChildProcessByStdio<null, null, Readable>;
  readonly exited: Promise<unknown>;
  readonly folder: string;
  readonly port: number;
  readonly mark: string;
  readonly log: () => string;
}

function describe(facts: Facts): Sshd {
  const { child, folder, port, home, config } = facts;
  const pid = child.pid ?? 0;
  const rexd = `${process.execPath} ${bin('rexd')} --stdio --root ${home}`;
  const connections = (): Running[] => descendants(pid).filter(({ command }) => command.startsWith('sshd'));
  const started = (): Running[] => markedWith(MARK, facts.mark).filter((found) => found.pid !== pid);
  return {
    port,
    pid,
    folder,
    home,
    config,
    knownHosts: facts.knownHosts,
    userKey: facts.userKey,
    ssh: ['ssh', '-F', config, 'box'],
    rexd,
    target: (over = {}) => ({
      transport: 'ssh',
      host: 'box',
      sshOptions: ['-F', config],
      command: rexd,
      workspaceRoots: [],
      ...over,
    }),
    log: facts.log,
    connections,
    started,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGSTOP'); // no new connection while those that are there are ended
      const below = descendants(pid);
      killAll(below, 'SIGKILL');
      child.kill('SIGKILL');
      await facts.exited;
      await until(() => below.every(({ pid: found }) => !isAlive(found)), 'the connections of sshd to end');
      const isOver = (): boolean => {
        const left = started(); // each look again: one may start another just before it is ended
        killAll(left, 'SIGKILL');
        return left.length === 0;
      };
      await until(isOver, 'what logins have started to end');
      removeFolder(folder);
    },
  };
}

function writeFiles(
  folder: string,
  { port, mark, options }: { port: number; mark: string; options: SshdOptions },
): Files {
  const at = (name: string): string => join(folder, name);
  const publicKey = (name: string): string => readFileSync(at(`${name}.pub`), 'utf8').trim();
  const home = at('home');
  mkdirSync(home, { recursive: true });
  const env = {
    HOME: home,
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    [MARK]: mark,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_STATE_HOME: join(home, '.state'),
    ...options.env,
  };
  writeFileSync(join(home, '.bashrc'), options.bashrc ?? '');
  writeFileSync(at('authorized_keys'), `${publicKey('user_key')}\n`);
  writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${publicKey('host_key')}\n`);
  const serverLines = [
    ...(options.server ?? []),
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${at('host_key')}`,
    `AuthorizedKeysFile ${at('authorized_keys')}`,
    'PidFile none',
    'StrictModes no', // the folder above ours may be anybody's
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    'MaxStartups 1000',
    'MaxSessions 100',
    `SetEnv ${Object.entries(env)
      .map(([name, value]) => `"${name}=${value}"`)
      .join(' ')}`,
  ];
  const clientLines = [
    'Host box',
    ...(options.client ?? []),
    'HostName 127.0.0.1',
    `Port ${port}`,
    `User ${userInfo().username}`,
    `IdentityFile ${at('user_key')}`,
    'IdentitiesOnly yes',
    'IdentityAgent none',
    `UserKnownHostsFile ${at('known_hosts')}`,
    'GlobalKnownHostsFile /dev/null',
    'StrictHostKeyChecking yes',
  ];
  writeFileSync(at('sshd_config'), `${serverLines.join('\n')}\n`);
  writeFileSync(at('ssh_config'), `${clientLines.join('\n  ')}\n`);
  return {
    serverConfig: at('sshd_config'),
    config: at('ssh_config'),
    knownHosts: at('known_hosts'),
    userKey: at('user_key'),
    home,
  };
}

export function makeKey(file: string, comment: string): void {
  const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', file]);
  if (made.status !== 0) throw new Error(`ssh-keygen: ${String(made.error ?? made.stderr)}`);
}
