// `npm run verify:bus -- --messages N`: drives the bus with every kind of trouble and says what came of every message.

import { helpText, parseFlags, type Usage } from '../src/cli/flags.js';
import { verifyBus, type VerifySample } from '../test/helpers/bus-verify.js';
import { buildIfStale } from './build.js';

const usage: Usage = {
  program: 'verify:bus',
  summary: 'proves that the bus loses, doubles, reorders and crosses nothing',
  synopsis:
    'npm run verify:bus -- [--messages N] [--minutes M] [--clients N] [--workers N] [--collision hold|rewrite]',
  flags: {
    messages: { value: 'N', summary: 'messages to check, both ways together (1000000)' },
    minutes: { value: 'M', summary: 'stop after so long' },
    clients: { value: 'N', summary: 'clients at a time (12)' },
    workers: { value: 'N', summary: 'workers of the pool (4)' },
    collision: { value: 'hold|rewrite', summary: 'what is done about ids that collide (hold)' },
    'restart-ms': { value: 'N', summary: 'a rolling restart of all workers every so often (0: none)' },
    seed: { value: 'N', summary: 'another choice of trouble' },
    help: { short: 'h', summary: 'this text' },
  },
  examples: [['npm run verify:bus -- --messages 10000000', 'ten million messages']],
};

async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(usage, args);
  if (flags.has('help')) {
    console.log(helpText(usage));
    return 0;
  }
  const number = (name: string): number | undefined => {
    const text = flags.value(name);
    return text === undefined ? undefined : Number(text);
  };
  await buildIfStale();
  const [minutes, clients, workers, seed] = ['minutes', 'clients', 'workers', 'seed'].map(number);
  const restartEveryMs = number('restart-ms') ?? 0;
  const report = await verifyBus({
    messages: number('messages') ?? 1_000_000,
    ...(minutes !== undefined && { maxMs: minutes * 60_000 }),
    ...(clients !== undefined && { clients }),
    ...(workers !== undefined && { workers }),
    ...(seed !== undefined && { seed }),
    restartEveryMs,
    idCollision: flags.value('collision') === 'rewrite' ? 'rewrite' : 'hold',
    onProgress: (sample) => console.log(line(sample)),
  });
  console.log(line(report));
  for (const fault of report.faults) console.log(`FAULT ${fault}`);
  const sound = report.faults.length === 0 && report.exitCode === 0;
  console.log(
    sound
      ? `${report.messages} messages: none lost, doubled, out of order or crossed`
      : `${report.faults.length} faults, exit code ${String(report.exitCode)}`,
  );
  return sound ? 0 : 1;
}

function line(sample: VerifySample): string {
  const { atMs, messages, requests, results, errors, abandoned, notifications, questions } = sample;
  const rate = Math.round(messages / (atMs / 1000));
  return (
    `${(atMs / 1000).toFixed(0)} s  ${messages} messages (${rate}/s)  ${requests} requests = ${results} results + ${errors} errors + ${abandoned} abandoned + open  ` +
    `${notifications} notifications  ${questions} questions  ${sample.kills} kills  ${sample.disconnects} vanished  ${sample.halfCloses} half-closed  ` +
    `RSS ${(sample.rssBytes / 1024 / 1024).toFixed(0)} MiB  ${sample.fds} fds`
  );
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`verify:bus: ${error instanceof Error ? error.message : String(error)}`);
  return 2;
});
