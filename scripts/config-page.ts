// docs/config.md: every key of rexd's configuration, its type and default from the schema, its meaning from here.

import { ConfigFile } from '../src/rexd/config-file.js';
import { REXD_LIMITS, type RexdLimit } from '../src/rexd/limits.js';
import { renderTables, type Setting, settingsOf } from './schema-settings.js';

const MEANINGS: Readonly<Record<string, string>> = {
  'server.stdio':
    'Serve one client on standard input and output. `--stdio` on the command line counts for more.',
  'server.log_level': 'What goes to the log on stderr. `--log-level` counts for more.',
  'server.report_version':
    'The `server_version` that clients are told. Some refuse every version but the one they were written against.',
  'server.resume_window_ms':
    'How long a session that was opened with `resumable` waits for its client after the connection was lost; 0: not at all, and `resumable` is refused.',
  'server.state_dir':
    'Where detached processes are kept: what they wrote and how they ended. Absolute; by default `$XDG_STATE_HOME/rexd`, else `~/.local/state/rexd`.',
  'server.http_listen':
    '`HOST:PORT` for HTTP and WebSocket, such as `127.0.0.1:8040`; port 0 takes a free one. With it `rexd` is a daemon unless `--stdio` is given. `--http` counts for more. Needs a token or client certificates.',
  'server.http_path': 'Where JSON-RPC is posted to.',
  'server.ws_path': 'Where the WebSocket is.',
  'server.unix_socket':
    'Absolute path of a unix socket, open to this user only (mode 0600), that carries lines as stdio does. `--unix` counts for more.',
  'server.token':
    'What clients send as `Authorization: Bearer TOKEN`. `REXD_TOKEN` and `token_file` count for more, and `token_file` is the better place.',
  'server.token_file':
    'A file with the token in it, absolute, not readable by everybody; `REXD_TOKEN_FILE` counts for more. Read again on SIGHUP.',
  'server.tls_cert': 'Certificate in PEM, with its chain. Given with `tls_key`, nothing but TLS is spoken.',
  'server.tls_key': 'Its key in PEM, not readable by everybody. Both are read again on SIGHUP.',
  'server.tls_client_ca':
    'Certificates in PEM of who may sign those of clients: then every client needs one, beside the token if there is one.',
  'server.allow_remote':
    'Listen also on an address that other machines can reach, which needs TLS or `behind_proxy` as well. `--allow-remote` is the same.',
  'server.behind_proxy': 'A reverse proxy speaks TLS with the other machines, so we need not.',
  'server.allowed_hosts':
    'Names that the `Host` of a request may have beside loopback ones: `name` for every port, or `name:port`. For a proxy that passes on the name it was called by.',
  'server.session_idle_ms':
    'A session opened by POST ends, with what it runs, when no call of it was in progress for so long. Sessions of a WebSocket or a unix socket end with their connection instead.',
  ...Object.fromEntries(
    Object.entries(REXD_LIMITS).map(([name, { summary }]) => [
      `limits.${name}`,
      `${summary} A session may lower it for itself.`,
    ]),
  ),
  'security.allow_shell':
    'Whether commands may be read by a shell: `shell: true`, and a shell in `argv` too. The refusal of `shell: true` is `unsupported_capability`.',
  'security.allow_detach':
    'Whether `detach: true` may keep a process beyond its session, its connection and the server.',
  'security.allowed_roots[].path':
    'A folder that may be used, with all that is below it. Absolute. Beside those of `--root`; without any, no path is allowed.',
  'security.hard_links':
    '`refuse`: keep hands off every file that has several names, for one of them may lie outside the roots. Package stores and some checkouts are full of such files.',
  'security.allow_commands':
    'When there are any, only these commands run. Patterns of words: `git log`, `npm run *`, `make **`.',
  'security.deny_commands':
    'These never run, whatever else allows them, also behind `env`, `timeout`, `xargs` or in a shell.',
  'security.sudo': 'When it is there, only these run under `sudo` and its like. Empty: nothing does.',
  'security.classes': 'When it is there, only commands of these classes run.',
  'security.pass_env':
    'Variables of the server that commands are given beside the usual ones (`PATH`, `HOME`, `LANG`, …). Names, no patterns.',
  'security.sandbox.mode':
    '`auto`: commands run in a sandbox of bubblewrap where that works, and the log says when it does not. `required`: without one the server does not start.',
  'security.sandbox.network':
    'Whether commands in the sandbox have the network of the host. Without it they have a loopback of their own.',
  'security.sandbox.read_write':
    'What commands in the sandbox may write beside the roots of their session. Absolute, and there at the start.',
  'security.sandbox.read_only':
    'What commands in the sandbox may read although it lies in `/tmp` or `/run`, or may not write although it lies in a root. Of folders within each other the innermost counts.',
  'audit.enabled': 'Write one line of JSON for every request, and one for every program that ended.',
  'audit.path': 'Where. Absolute; the file is made readable by its owner only.',
  'audit.max_bytes': 'A file that would grow past this is put aside as `path.1`.',
  'audit.keep': 'How many of those are kept.',
};

/** Every key there is, in the order of the schema. */
export function listSettings(): Setting[] {
  return settingsOf(ConfigFile).map((setting) => ({
    ...setting,
    default: setting.default ?? limitDefault(setting.key),
  }));
}

export function meaningOf(key: string): string | undefined {
  return MEANINGS[key];
}

export function renderConfigPage(): string {
  const settings = listSettings();
  return [
    '# Configuration of rexd',
    'Written by `npm run docs` from the schema in `src/rexd/config-file.ts`; do not edit.',
    [
      'TOML, from the first of these that is there:',
      '',
      '1. the file named by `--config`, which must exist',
      '2. `$XDG_CONFIG_HOME/rexd/config.toml`, by default `~/.config/rexd/config.toml`',
      '3. `/etc/rexd/config.toml`',
    ].join('\n'),
    'Without any, every default below holds. An unknown key is an error that names the line and the key that was probably meant: a rule that is misspelt must not look like one that is in force. `rexd --check` says what a configuration comes to, `rexd --check --json` for programs. [`examples/rexd.toml`](examples/rexd.toml) has every key, with comments. What the rules mean is in [security.md](security.md).',
    ...renderTables(settings, {
      meanings: MEANINGS,
      tableOf,
      heading: (table) =>
        `## \`${settings.some(({ key }) => key.startsWith(`${table}[].`)) ? `[[${table}]]` : `[${table}]`}\``,
    }),
  ]
    .join('\n\n')
    .concat('\n');
}

/** `security.allowed_roots[].path` is of the table `[[security.allowed_roots]]`. */
function tableOf(key: string): string {
  const table = key.slice(0, key.lastIndexOf('.'));
  return table.endsWith('[]') ? table.slice(0, -2) : table;
}

function limitDefault(key: string): number | undefined {
  return key.startsWith('limits.')
    ? REXD_LIMITS[key.slice('limits.'.length) as RexdLimit].default
    : undefined;
}
