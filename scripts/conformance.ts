// Runs a conformance suite, against our own server or any other given by its command line.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { splitCommand } from '../bench/harness/split-command.js';
import { helpText, parseFlags, type Usage, UsageError } from '../src/cli/flags.js';
import { TARGET_VARIABLE } from '../test/conformance/kit/target.js';
import { ROOT } from './paths.js';
import { runLive } from './step.js';

const suites = readdirSync(join(ROOT, 'test/conformance'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['kit', 'clauses'].includes(entry.name))
  .map((entry) => entry.name);

const usage: Usage = {
  program: 'conformance',
  summary: 'run the clauses of a protocol against a server',
  synopsis: `npm run conformance -- SUITE [--target "COMMAND"]     SUITE: ${suites.join(', ')}`,
  flags: {
    target: {
      value: '"COMMAND"',
      summary: 'the server to test, by its command line; {config} and {root} are filled in',
    },
    help: { short: 'h', summary: 'this text' },
  },
  examples: [
    ['npm run conformance -- rexd', 'our own server, as built'],
    [
      'npm run conformance -- rexd --target "other-rexd --stdio --config {config}"',
      'a server of another make',
    ],
  ],
};

async function main(args: readonly string[]): Promise<number> {
  const [suite, ...rest] = args[0]?.startsWith('-') === false ? args : ['', ...args];
  const flags = parseFlags(usage, rest);
  if (flags.has('help')) {
    console.log(helpText(usage));
    return 0;
  }
  if (suite === undefined || !suites.includes(suite))
    throw new UsageError(
      `${suite === undefined || suite === '' ? 'name a suite' : `there is no suite "${suite}"`}: ${suites.join(', ')}`,
    );
  const target = flags.value('target');
  if (target !== undefined) process.env[TARGET_VARIABLE] = JSON.stringify(splitCommand(target));
  return await runLive(['vitest', 'run', '--project', 'conformance', `test/conformance/${suite}/`]);
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(
    `conformance: ${error instanceof Error ? error.message : String(error)}\nTry: npm run conformance -- --help`,
  );
  return 2;
});
