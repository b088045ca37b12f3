// The command line of rexd. Only flags are dealt with here: help and version answer before the server is loaded.

import { LocalError, toError } from '../base/errors.js';
import { LOG_LEVELS } from '../base/log.js';
import { VERSION } from '../base/version.js';
import { EXIT } from './exit-codes.js';
import { helpText, parseFlags, type Usage, UsageError } from './flags.js';
import { printLine } from './print-line.js';

const USAGE: Usage = {
  program: 'rexd',
  summary: 'run commands and edit files on this host for a client that speaks REXD v1',
  synopsis: 'rexd --stdio | --http HOST:PORT | --unix PATH  [--root DIR]... [--config FILE]',
  flags: {
    stdio: { summary: 'serve one client on standard input and output' },
    http: {
      value: 'HOST:PORT',
      summary: 'serve many clients over HTTP and WebSocket; needs a token, see below',
    },
    unix: { value: 'PATH', summary: 'serve many clients of this user on a unix socket' },
    'allow-remote': { summary: 'with --http: listen also where other machines can connect' },
    root: { value: 'DIR', repeatable: true, summary: 'allow this folder, beside those of the configuration' },
    config: { value: 'FILE', summary: 'read this configuration' },
    limit: {
      value: 'NAME=NUMBER',
      repeatable: true,
      summary: 'set a limit, such as max_output_bytes, over the configuration',
    },
    check: { summary: 'check the configuration, say what it comes to, and exit' },
    json: { summary: 'with --check: as JSON' },
    'log-level': { value: 'LEVEL', summary: `${LOG_LEVELS.join(', ')}; overrides the configuration` },
    'log-file': { value: 'FILE', summary: 'append the log to a file instead of stderr' },
    version: { short: 'V', summary: 'print the version' },
    help: { short: 'h', summary: 'print this text' },
  },
  examples: [
    ['rexd --stdio --root .', 'serve the current folder to the program at the other end of the pipe'],
    ['ssh deploy@server-a rexd --stdio', 'the same on another host, through your own ssh'],
    [
      'REXD_TOKEN=$(openssl rand -hex 32) rexd --http 127.0.0.1:8040 --root .',
      'serve it over HTTP to whoever knows the token',
    ],
    ['rexd --check --config rexd.toml', 'see what a configuration allows before using it'],
  ],
  notes: [
    [
      'Files:',
      '  $XDG_CONFIG_HOME/rexd/config.toml, else ~/.config/rexd/config.toml, else /etc/rexd/config.toml',
      '  Without one and without --root, no folder is allowed.',
    ].join('\n'),
    [
      'Environment:',
      '  REXD_TOKEN, REXD_TOKEN_FILE  what clients of --http have to send as "Authorization: Bearer TOKEN"',
    ].join('\n'),
    'Exit codes: 0 the client ended the connection, 1 failed, 2 wrong usage or configuration, 130 interrupted.',
  ],
};

export async function runRexd(args: readonly string[]): Promise<void> {
  // Node would open its inspector, a port that runs code, for anybody who may send us a signal.
  process.on('SIGUSR1', () => {});
  try {
    process.exitCode = await main(args);
  } catch (thrown) {
    const error = toError(thrown);
    const hint = error instanceof UsageError ? '\nTry: rexd --help' : '';
    process.stderr.write(
      `rexd: ${error instanceof LocalError ? error.message : (error.stack ?? error.message)}${hint}\n`,
    );
    const isUsage = error instanceof LocalError && error.code !== 'output_lost';
    process.exitCode = isUsage ? EXIT.usage : EXIT.failed;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(USAGE, args);
  if (flags.has('help')) return await printLine(helpText(USAGE));
  if (flags.has('version')) return await printLine(`rexd ${VERSION}`);
  const { check, serve } = await import('./rexd-serve.js');
  if (flags.has('check')) return await printLine(await check(flags));
  const code = await serve(flags);
  // The connection is over and everything is flushed. What a client has not read by now would keep the process alive.
  return process.exit(code);
}
