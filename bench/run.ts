// The bench kit's entry: choose suites, run them one after the other, print and store what came out.

import { fileURLToPath } from 'node:url';
import { LocalError } from '../src/base/errors.js';
import { UnavailableError, UsageError } from './harness/errors.js';
import { openProgress } from './harness/progress.js';
import { runSuite } from './harness/run-suite.js';
import { formatJson, storeResult } from './harness/store.js';
import { formatResult } from './harness/table.js';
import type { SuiteResult } from './harness/types.js';
import { HELP, type Options, parseOptions, peersFor } from './options.js';
import { SUITES } from './suites/all.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = fileURLToPath(new URL('results', import.meta.url));
const EXIT_MISSED = 1;
const EXIT_REFUSED = 2;
const EXIT_INTERRUPTED = 130;

interface Outcome {
  readonly results: SuiteResult[];
  readonly skipped: { readonly suite: string; readonly reason: string }[];
}

async function main(argv: readonly string[]): Promise<number> {
  const options = parseOptions(
    argv,
    SUITES.map((suite) => suite.name),
  );
  if (options.show === 'help') return print(HELP);
  if (options.show === 'list')
    return print(SUITES.map(({ name, summary }) => `${name.padEnd(12)}${summary}\n`).join(''));
  const outcome = await runAll(options);
  const verdicts = outcome.results.flatMap((result) => result.cases.flatMap((each) => each.verdicts));
  const pass = verdicts.every((verdict) => verdict.pass);
  if (options.json) print(formatJson({ pass, ...outcome }));
  else if (verdicts.length > 0)
    print(`${verdicts.filter((verdict) => verdict.pass).length} of ${verdicts.length} targets met\n`);
  return pass || !options.failOnMiss ? 0 : EXIT_MISSED;
}

async function runAll(options: Options): Promise<Outcome> {
  const chosen =
    options.suites.length === 0 ? SUITES : SUITES.filter((suite) => options.suites.includes(suite.name));
  if (options.peers.length > 0 && chosen.every((suite) => peersFor(suite, options).length === 0)) {
    throw new UsageError(`no peer can take part in ${options.suites.join(', ')}`);
  }
  const outcome: Outcome = { results: [], skipped: [] };
  const progress = openProgress(process.stderr);
  for (const suite of chosen) {
    try {
      const context = {
        root: ROOT,
        peers: peersFor(suite, options),
        large: options.large,
        only: options.only,
      };
      const result = await runSuite(suite, context, options.plan, (line) => progress.report(line));
      outcome.results.push(result);
      progress.clear();
      if (options.store) await storeResult(RESULTS, result);
      if (!options.json) print(`${formatResult(result)}\n\n`);
    } catch (error) {
      progress.clear();
      if (!(error instanceof UnavailableError) || options.suites.length > 0) throw error;
      outcome.skipped.push({ suite: suite.name, reason: error.message });
      process.stderr.write(`${suite.name}: skipped: ${error.message}\n`);
    }
  }
  return outcome;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => process.exit(EXIT_INTERRUPTED));
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(
    `bench: ${error instanceof LocalError ? error.message : String((error as Error).stack)}\n`,
  );
  process.exitCode = EXIT_REFUSED;
}
