// `npm run soak:bus -- --minutes 10`: the bus under full load; its memory must not grow, nor the number of its descriptors.

import { helpText, parseFlags, type Usage } from '../src/cli/flags.js';
import { type VerifySample, verifyBus } from '../test/helpers/bus-verify.js';
import { buildIfStale } from './build.js';

const usage: Usage = {
  program: 'soak:bus',
  summary: 'watches memory and descriptors of the bus under full load',
  synopsis: 'npm run soak:bus -- [--minutes M] [--clients N]',
  flags: {
    minutes: { value: 'M', summary: 'how long (10)' },
    clients: { value: 'N', summary: 'clients at a time (12)' },
    help: { short: 'h', summary: 'this text' },
  },
  examples: [['npm run soak:bus -- --minutes 10', 'as many messages as a day has']],
};

/** Buffers and code are still being made in the first part of a run. */
const WARM_UP_SHARE = 0.3;
/** Noise of the collector: over an hour this would be 60 MiB, which a run of ten minutes cannot tell from nothing. */
const MAX_SLOPE_MIB_PER_MINUTE = 1;
const SAMPLES = 60;

async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(usage, args);
  if (flags.has('help')) {
    console.log(helpText(usage));
    return 0;
  }
  await buildIfStale();
  const maxMs = Number(flags.value('minutes') ?? 10) * 60_000;
  const report = await verifyBus({
    messages: Infinity,
    maxMs,
    clients: Number(flags.value('clients') ?? 12),
    progressEveryMs: maxMs / SAMPLES,
    onProgress: (sample) => console.log(line(sample)),
  });
  const steady = report.samples.slice(Math.ceil(report.samples.length * WARM_UP_SHARE));
  const slope = slopePerMinute(steady.map(({ atMs, rssBytes }) => [atMs, rssBytes / 1024 / 1024] as const));
  const fds = steady.map((sample) => sample.fds);
  const { fdsBefore, fdsAfter } = report;
  for (const fault of report.faults) console.log(`FAULT ${fault}`);
  console.log(
    `${report.messages} messages in ${(report.atMs / 60_000).toFixed(1)} min: RSS slope ${slope.toFixed(3)} MiB/min, ` +
      `descriptors ${Math.min(...fds)}…${Math.max(...fds)} with clients, ${fdsBefore} before the first, ${fdsAfter} after the last, ${report.faults.length} faults`,
  );
  const sound = slope < MAX_SLOPE_MIB_PER_MINUTE && fdsAfter <= fdsBefore && report.faults.length === 0;
  console.log(sound ? 'steady' : 'NOT STEADY');
  return sound ? 0 : 1;
}

function line({ atMs, messages, rssBytes, fds, kills }: VerifySample): string {
  return `${(atMs / 1000).toFixed(0)} s  ${messages} messages  RSS ${(rssBytes / 1024 / 1024).toFixed(1)} MiB  ${fds} fds  ${kills} kills`;
}

/** By least squares. */
function slopePerMinute(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / values.length;
  const [x, y] = [mean(points.map(([ms]) => ms)), mean(points.map(([, mib]) => mib))];
  const over = points.reduce((sum, [ms, mib]) => sum + (ms - x) * (mib - y), 0);
  const under = points.reduce((sum, [ms]) => sum + (ms - x) ** 2, 0);
  return (over / under) * 60_000;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`soak:bus: ${error instanceof Error ? error.message : String(error)}`);
  return 2;
});
