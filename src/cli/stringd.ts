// The command line of stringd. Only flags are dealt with here: help and version answer before the daemon is loaded.

import { errnoOf, LocalError, toError } from '../base/errors.js';
import { LOG_LEVELS } from '../base/log.js';
import { VERSION } from '../base/version.js';
import { EXIT } from './exit-codes.js';
import { helpText, parseFlags, type Usage, UsageError } from './flags.js';

const USAGE: Usage = {
  program: 'stringd',
  summary: 'the daemon of String: agents, topics, commands and events on the loopback, in the foreground',
  synopsis: 'stringd [--port PORT] [--data-dir DIR] [--log-level LEVEL]',
  flags: {
    port: {
      value: 'PORT',
      summary: 'listen on this port of 127.0.0.1; 0 for any free one (default: STRING_PORT, else 3923)',
    },
    'data-dir': { value: 'DIR', summary: 'keep agents.json and the inbox here (default: STRING_DATA_DIR)' },
    cors: {
      value: 'MODE',
      summary: 'guarded (default), or permissive: lets every web page of this machine’s browsers in',
    },
    'log-level': { value: 'LEVEL', summary: `${LOG_LEVELS.join(', ')} (default: warn)` },
    json: { summary: 'say where it listens as one line of JSON on standard output' },
    'end-with-stdin': {
      summary:
        'end when standard input does: whoever holds its other end takes the daemon along, also when killed',
    },
    version: { short: 'V', summary: 'print the version' },
    help: { short: 'h', summary: 'print this text' },
  },
  examples: [
    ['stringd', 'serve on 127.0.0.1:3923 until Ctrl-C'],
    ['STRING_ROOT=/tmp/try stringd --port 0', 'a daemon of its own to try things with'],
    ['curl -s http://127.0.0.1:3923/health', 'ask whether it is there'],
  ],
  notes: [
    [
      'Environment:',
      '  STRING_PORT            the port, 1 to 65535',
      '  STRING_ROOT            where everything is kept (~/.string)',
      '  STRING_DATA_DIR        agents.json, the inbox, logs (STRING_ROOT/daemon)',
      '  STRING_LOG=1           a log of JSON lines in STRING_DATA_DIR/logs',
      '  STRING_ACCESS=full     agents reach every file, not only their homes and allowed paths; /info says so',
      '  STRING_TOPICS=strict   only the topics of the protocol: no file:NAME, no web:NAME',
      '  STRING_NO_AGENT_RECOVERY=1, STRING_EVENT_REDELIVER_GRACE_MS, STRING_EVENT_RETENTION_DAYS,',
      '  STRING_EVENT_SWEEP_INTERVAL_MS, STRING_WEBHOOK_RATE: see docs/protocol/stringd.md',
    ].join('\n'),
    'Exit codes: 0 told to end, 1 failed, 2 wrong usage or configuration, 130 interrupted.',
  ],
};

const LOST_RACE: ReadonlySet<string> = new Set(['already_running', 'data_in_use']);

export async function runStringd(args: readonly string[]): Promise<void> {
  // Node would open its inspector, a port that runs code, for anybody who may send us a signal.
  process.on('SIGUSR1', () => {});
  // Whoever has started us may have gone, and with it the other end; there is a service all the same.
  process.stderr.on('error', () => {});
  try {
    process.exitCode = await main(args);
  } catch (thrown) {
    const error = toError(thrown);
    const hint = error instanceof UsageError ? '\nTry: stringd --help' : '';
    // What the system says is told in its words; a stack is for our own mistakes.
    const isTold = error instanceof LocalError || errnoOf(error) !== undefined;
    // For whoever has started us: that one of us is there already, whatever the words are.
    const code = error instanceof LocalError && LOST_RACE.has(error.code) ? ` [${error.code}]` : '';
    process.stderr.write(
      `stringd: ${isTold ? error.message : (error.stack ?? error.message)}${code}${hint}\n`,
    );
    process.exitCode = isUsage(error) ? EXIT.usage : EXIT.failed;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(USAGE, args);
  if (flags.has('help')) return await say(helpText(USAGE));
  if (flags.has('version')) return await say(`stringd ${VERSION}`);
  const { serve } = await import('./stringd-serve.js');
  return process.exit(await serve(flags));
}

function isUsage(error: Error): boolean {
  return error instanceof LocalError && ['usage', 'bad_config', 'store_corrupt'].includes(error.code);
}

function say(text: string): Promise<number> {
  return new Promise((resolve) => {
    process.stdout.once('error', () => resolve(EXIT.failed));
    process.stdout.write(`${text}\n`, () => resolve(EXIT.ok));
  });
}
