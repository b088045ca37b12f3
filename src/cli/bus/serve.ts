// `stdio-bus`: starts the bus, says where it is, and serves until its client leaves or a signal ends it.

import { fstatSync } from 'node:fs';
import { once } from 'node:events';
import { toError } from '../../base/errors.js';
import { type Log, openLog } from '../../base/log.js';
import { Bus } from '../../bus/bus.js';
import type { ClientStream } from '../../bus/route/settings.js';
import { TOKEN_VARIABLE } from '../../bus/workers/worker-environment.js';
import { EXIT } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { assertServable } from '../standard-streams.js';
import { announce, stderrOfWorkers } from './say.js';
import { type BusSettings, readSettings } from './settings.js';
import { StderrWriter } from './stderr-writer.js';
import { openTrace } from './trace-file.js';

/** Of a second signal: the drain is not waited for, but a worker that can be killed is killed. */
const AT_ONCE_MS = 2000;

const CODES = { SIGINT: EXIT.interrupted, SIGTERM: 143 } as const;
type EndSignal = keyof typeof CODES;

export async function serveBus(flags: Flags): Promise<number> {
  const settings = readSettings(flags);
  const { config, where } = settings;
  if (where === 'stdio') assertServable();
  const stderr = new StderrWriter();
  const log = openLog({ name: 'stdio-bus', ...settings.log, out: stderr });
  const trace = flags.has('trace')
    ? openTrace(flags.value('trace') ?? '', settings.log.format, stderr)
    : undefined;
  const env = { ...process.env };
  delete process.env[TOKEN_VARIABLE]; // what we start besides workers shall not have it either
  const bus = new Bus({
    config,
    log,
    env,
    onStderr: stderrOfWorkers(stderr, settings.log.format),
    ...(trace !== undefined && { trace: trace.hook }),
  });
  const signals = new Signals();
  try {
    const code = await run(bus, { flags, settings, log, stderr, signals });
    await trace?.close();
    return code;
  } finally {
    await log.flush();
    await stderr.flush();
  }
}

interface Run {
  readonly flags: Flags;
  readonly settings: BusSettings;
  readonly log: Log;
  readonly stderr: StderrWriter;
  readonly signals: Signals;
}

async function run(bus: Bus, { flags, settings, log, stderr, signals }: Run): Promise<number> {
  const { where } = settings;
  const allowRemote = flags.has('allow-remote');
  // From the start: unheard, this signal would end us.
  let running = false;
  process.on('SIGHUP', () => {
    if (running) void reload(bus, settings, log);
  });
  // The door first: whoever cannot have it need not start a worker to learn that.
  try {
    if (where !== 'stdio') await bus.listen(where, { allowRemote });
    const metrics = flags.value('metrics');
    if (metrics !== undefined) await bus.listenMetrics(metrics, { allowRemote });
    await bus.start();
  } catch (thrown) {
    await bus.close(toError(thrown));
    throw thrown;
  }
  running = true;
  const left = where === 'stdio' ? serveStdio(bus) : new Promise<never>(() => {});
  for (const place of where === 'stdio' ? ['stdio'] : bus.places)
    announce(stderr, place, settings.log.format);
  const why = await Promise.race([left, signals.first]);
  if (typeof why === 'string') log.info(`ending: ${why}`);
  else log.info('the client has left');
  const drained = typeof why === 'string' ? bus.drain() : bus.drain(why.drainMs);
  const second = await Promise.race([drained, signals.second]);
  if (typeof second === 'number') return EXIT.ok;
  log.warn(`${second}: ending at once`);
  await Promise.race([bus.close(), new Promise((resolve) => setTimeout(resolve, AT_ONCE_MS))]);
  return CODES[second];
}

/**
 * Resolves when there is no more to do for the client: it has ended, and has its answers, or they take longer than a drain
 * may. `drainMs` is what is left of that time.
 */
async function serveStdio(bus: Bus): Promise<{ readonly drainMs: number }> {
  const client = bus.accept(standardStreams(), { name: 'stdio' });
  await Promise.race([client.ended, client.closed]);
  const timeoutMs = bus.config.limits.drain_timeout_sec * 1000;
  const endMs = performance.now() + timeoutMs;
  await Promise.race([client.closed, new Promise((resolve) => setTimeout(resolve, timeoutMs))]);
  return { drainMs: Math.max(0, endMs - performance.now()) };
}

/** Pipes and sockets are read by the bus itself; files and terminals by way of Node's streams. */
function standardStreams(): ClientStream {
  return { input: isPipe(0) ? 0 : process.stdin, output: isPipe(1) ? 1 : process.stdout };
}

function isPipe(fd: number): boolean {
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
}

async function reload(bus: Bus, { read }: BusSettings, log: Log): Promise<void> {
  if (read === undefined) {
    log.warn('SIGHUP: the configuration came by a descriptor and cannot be read again');
    return;
  }
  try {
    await bus.reload(read());
  } catch (thrown) {
    log.error('the new configuration is refused, the old one holds', { reason: toError(thrown).message });
  }
}

/** The first asks for a drain, the second does not wait for it. */
class Signals {
  readonly first: Promise<EndSignal>;
  readonly second: Promise<EndSignal>;

  constructor() {
    this.first = nextSignal();
    this.second = this.first.then(async () => await nextSignal());
  }
}

async function nextSignal(): Promise<EndSignal> {
  const names = Object.keys(CODES) as EndSignal[];
  return await Promise.race(names.map((name) => once(process, name).then(() => name)));
}
