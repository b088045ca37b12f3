// rex target: the hosts commands can go to, which of them they go to, and whether they can be reached.

import type { Command, OptionValues } from 'commander';
import { collect } from './collect.js';
import type { RexCommand, Run, Task } from './command.js';
import { parsePort } from './target/add-options.js';
import type { AddOptions } from './target/add.js';
import type { InstallOptions } from './target/install.js';
import type { UseOptions } from './target/use.js';

export const targetCommand: RexCommand = {
  examples: [
    ['rex target add web deploy@web.example --root /srv/app', 'a host, and the folder to work in'],
    [
      'rex target add box http://127.0.0.1:8040 --token-file ~/.config/rexd/token',
      'a daemon; see rexd --http',
    ],
    ['rex target install web', 'bring rexd there, by your own ssh'],
    ['rex target test web', 'what works and what does not, in plain words'],
    ['rex target use web', 'commands that name no target go there from now on'],
    ['rex target which', 'where a command goes, and why'],
  ],
  define: (command, run) => {
    command.addHelpText('after', NOTES);
    for (const define of [defineList, defineChanges, defineChoice, defineHosts]) define(command, run);
  },
};

const NOTES = `
A command goes to the target it names; else to the one of the project's .rexd.json; else to the one its folder belongs to;
else to the one chosen with "rex target use"; else it stays on this machine, which is always the target "local".
Targets are kept in ~/.config/rexd/targets.json (or $REXD_TARGETS_FILE), which other clients of REXD read as well.`;

function defineList(command: Command, run: Run): void {
  command
    .command('list')
    .alias('ls')
    .description('all targets; the one in use has a star')
    .action(later(run, async () => (await import('./target/list.js')).listTargets));
  command
    .command('show')
    .description('all that is known of one target')
    .argument('<name>', 'the target')
    .action(later(run, async () => (await import('./target/list.js')).showTarget));
}

function defineChanges(command: Command, run: Run): void {
  command
    .command('add')
    .description('add a target, or change one with --force')
    .argument('<name>', 'what you will call it: letters, digits, ".", "_" and "-"')
    .argument(
      '<address>',
      '[user@]host[:port] for ssh, a name from ~/.ssh/config will do; http(s)://, ws(s):// or the path of a socket for a daemon',
    )
    .option('--identity <file>', 'the key to log in with')
    .option('--root <dir>', 'a folder of the host to work in (repeatable)', collect, [])
    .option(
      '--default-cwd <dir>',
      'where relative paths begin and commands run, as --cwd; the first root when absent',
    )
    .option('--command <command>', 'what starts rexd there, when it is not /usr/local/bin/rexd --stdio')
    .option('--port <port>', 'the port, when it is not in the address', parsePort)
    .option(
      '--ssh-option <word>',
      'a word for the command line of ssh, such as -oProxyJump=gate (repeatable)',
      collect,
      [],
    )
    .option('--description <text>', 'for people')
    .option('--transport <kind>', 'ssh, http, ws or unix, when the address does not tell')
    .option('--token-file <file>', 'http, ws: the file that has the token in it')
    .option('--token-env <name>', 'http, ws: the variable that has the token in it')
    .option('--ca <file>', 'http, ws: the authority (PEM) that has signed the certificate of the daemon')
    .option('--cert <file>', 'http, ws: our certificate (PEM), for a daemon that asks for one')
    .option('--key <file>', 'http, ws: the key of our certificate (PEM)')
    .option('--login-shell', 'clients that know this run commands in a login shell')
    .option('--force', 'replace a target of this name; what is not given stays')
    .action(later<AddOptions>(run, async () => (await import('./target/add.js')).addTarget));
  command
    .command('remove')
    .alias('rm')
    .description('forget a target; nothing is done on the host')
    .argument('<name>', 'the target')
    .action(later(run, async () => (await import('./target/add.js')).removeTarget));
}

function defineChoice(command: Command, run: Run): void {
  command
    .command('use')
    .description('where commands go that name no target')
    .argument('[name]', 'the target; "local" is this machine')
    .option('--project [dir]', "only in this project: writes the project's .rexd.json")
    .option('--prefix <dir>', 'only in this folder and below it')
    .option('--clear', 'undo: carry nothing over, or with --project or --prefix say nothing there')
    .action(later<UseOptions>(run, async () => (await import('./target/use.js')).useTarget));
  command
    .command('which')
    .description('where a command goes, and why')
    .argument('[path]', 'as if in this folder')
    .action(later(run, async () => (await import('./target/use.js')).whichTarget));
}

function defineHosts(command: Command, run: Run): void {
  command
    .command('test')
    .description('step by step what works, and what to do about what does not')
    .argument('[name]', 'the target; the chosen one when absent')
    .action(later(run, async () => (await import('./target/test.js')).testTarget));
  command
    .command('install')
    .description('bring rexd to the host by your own ssh, and verify it there')
    .argument('<name>', 'the target')
    .option('--to <path>', 'where to put it; ~/.local/bin/rexd when absent')
    .option('--binary [file]', 'the single binary, for a host without Node')
    .option('--file <file>', 'this file instead of the one that came with rex')
    .option('-n, --dry-run', 'look at the host and say what would be done')
    .action(later<InstallOptions>(run, async () => (await import('./target/install.js')).installTarget));
  command
    .command('uninstall')
    .description('remove the rexd that was installed with "rex target install"')
    .argument('<name>', 'the target')
    .action(later(run, async () => (await import('./target/install.js')).uninstallTarget));
  command
    .command('disconnect')
    .description('close the connections that are kept open for the next command')
    .argument('[name]', 'the target; the chosen one when absent')
    .action(later(run, async () => (await import('./target/disconnect.js')).disconnectTarget));
}

/** What a subcommand does is loaded when it is the one. */
function later<Options extends OptionValues = OptionValues>(
  run: Run,
  load: () => Promise<Task<Options>>,
): ReturnType<Run> {
  return run<Options>(async (context, args, options) => await (await load())(context, args, options));
}
