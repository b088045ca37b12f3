// What clients that exist expect of a REXD server: the conversations they have, as they have them.

import type { Clause } from './clause.js';

export const rexdClients = {
  'rexd/clients/launch': {
    text: 'rexd -h, rexd --version and rexd --stdio --config FILE work as their installers try them',
    source: 'rexd-clients "Launch"',
  },
  'rexd/clients/open': {
    text: 'session.open is answered with what all of them check: protocol, version 0.1.5, four capabilities, six positive limits, absolute roots',
    source: 'rexd-clients "First call"',
  },
  'rexd/clients/report-version': {
    text: 'server.report_version decides which version is answered',
    source: 'rexd-clients "First call"',
  },
  'rexd/clients/line-length': {
    text: 'no line they cause reaches 1 MiB: long lists and large files are marked as truncated',
    source: 'rexd-clients "Every stdout line"',
  },
  'rexd/clients/exec': {
    text: 'their three ways of exec.start work: a shell command, one with its own output limit, argv with variables added',
    source: 'rexd-clients "exec.start"',
  },
  'rexd/clients/exit': {
    text: 'the event exec.exit always comes, last and once, also for a command that wrote nothing',
    source: 'rexd-clients "exec.exit"',
  },
  'rexd/clients/chunks': {
    text: 'a mebibyte of short lines comes in at most 4096 events',
    source: 'rexd-clients "exec.exit"',
  },
  'rexd/clients/cancel': {
    text: 'exec.kill with KILL ends the tree at once, and its exit_code is a number that is not 0',
    source: 'rexd-clients "exec.kill"',
  },
  'rexd/clients/read': {
    text: 'stat, a sample in base64, then text; without an encoding, base64 for what is no text; truncated media is told',
    source: 'rexd-clients "fs.read"',
  },
  'rexd/clients/files': {
    text: 'lists, globs with ** and braces, stat of links, create that fails, expected_mtime, edits, and removal by patch',
    source: 'rexd-clients "fs.stat"',
  },
  'rexd/clients/pty': {
    text: 'a shell on a terminal shows its prompt unasked, and pty.exit has a numeric exit_code',
    source: 'rexd-clients "pty.open"',
  },
  'rexd/clients/disconnect': {
    text: 'the end of the input, without session.close, ends the server with 0 and all it started',
    source: 'rexd-clients "Disconnect"',
  },
} as const satisfies Record<string, Clause>;
