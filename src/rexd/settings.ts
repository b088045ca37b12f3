// What rexd can be told by its configuration, and what stands when it is told nothing.

import { LocalError } from '../base/errors.js';
import type { LogLevel } from '../base/log.js';
import type { CommandClass } from '../guard/command-classes.js';
import type { LimitSet } from '../guard/limits.js';
import type { PolicySource } from './command-rules.js';
import type { RexdLimit } from './limits.js';

/** Without one, where there is one, or not at all without one. */
export const SANDBOX_MODES = ['off', 'auto', 'required'] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

export const HARD_LINKS = ['allow', 'refuse'] as const;
export type HardLinks = (typeof HARD_LINKS)[number];

/** A day: whoever is away for longer should have started what runs detached. */
export const MAX_RESUME_WINDOW_MS = 24 * 60 * 60 * 1000;

/** Names the file of the token; counts for more than `server.token_file`. */
export const TOKEN_FILE_VARIABLE = 'REXD_TOKEN_FILE';

/** Serving many clients over sockets; all of it is for a daemon, and of no account to one that serves its own stdio. */
export interface DaemonSettings {
  /** `HOST:PORT` of HTTP and WebSocket. */
  readonly http_listen?: string | undefined;
  readonly http_path: string;
  readonly ws_path: string;
  readonly unix_socket?: string | undefined;
  /** What clients have to know. */
  readonly token?: string | undefined;
  readonly token_file?: string | undefined;
  /** Files in PEM. */
  readonly tls_cert?: string | undefined;
  readonly tls_key?: string | undefined;
  readonly tls_client_ca?: string | undefined;
  /** Whether it may listen where other machines can come. */
  readonly allow_remote: boolean;
  /** Somebody else speaks TLS with those other machines. */
  readonly behind_proxy: boolean;
  /** Names it goes by beside those of loopback. */
  readonly allowed_hosts: readonly string[];
  readonly session_idle_ms: number;
}

export interface RexdSettings {
  readonly server: {
    readonly stdio: boolean;
    readonly log_level: LogLevel;
    readonly report_version: string;
    /** Where detached processes and their output are kept; when not given, where the user's state belongs. */
    readonly state_dir?: string | undefined;
    /** How long a resumable session waits for its client after the connection was lost; 0: not at all. */
    readonly resume_window_ms: number;
  } & DaemonSettings;
  readonly security: {
    readonly allow_shell: boolean;
    /** Whether a command may outlive its session. */
    readonly allow_detach: boolean;
    readonly allowed_roots: readonly { readonly path: string }[];
    /** Whether files that have several names may be touched: the others may lie outside the roots. */
    readonly hard_links: HardLinks;
    /** When not empty, only these commands run. */
    readonly allow_commands: readonly string[];
    /** These never run. */
    readonly deny_commands: readonly string[];
    /** When given, only these run under sudo and its like. */
    readonly sudo?: readonly string[] | undefined;
    /** When given, only commands of these classes run. */
    readonly classes?: readonly CommandClass[] | undefined;
    /** Variables of the server's environment that commands are given beside the usual ones. */
    readonly pass_env: readonly string[];
    /** What commands run in. */
    readonly sandbox: {
      readonly mode: SandboxMode;
      readonly network: boolean;
      readonly read_write: readonly string[];
      readonly read_only: readonly string[];
    };
  };
  readonly audit: {
    readonly enabled: boolean;
    readonly path: string;
    /** A file that would grow past this is put aside as `path.1`. */
    readonly max_bytes: number;
    /** How many of those stay. */
    readonly keep: number;
  };
}

export interface RexdConfig extends RexdSettings {
  readonly limits: LimitSet<RexdLimit>;
  /** What `security` says of commands, ready to decide. */
  readonly policy: PolicySource;
  /** The file it came from; undefined when there is none and the defaults stand. */
  readonly file: string | undefined;
  /** The number of the line of the file that sets a key. */
  readonly lineOf: (key: string) => number | undefined;
}

export const DEFAULTS: RexdSettings = {
  server: {
    stdio: true,
    log_level: 'info',
    // Clients that exist check for the version of the implementation they were written against; see the room's README.
    report_version: '0.1.5',
    http_path: '/rpc',
    ws_path: '/ws',
    allow_remote: false,
    behind_proxy: false,
    allowed_hosts: [],
    session_idle_ms: 10 * 60 * 1000,
    resume_window_ms: 60_000,
  },
  security: {
    allow_shell: true,
    allow_detach: true,
    allowed_roots: [],
    hard_links: 'allow',
    allow_commands: [],
    deny_commands: [],
    pass_env: [],
    sandbox: { mode: 'off', network: true, read_write: [], read_only: [] },
  },
  audit: { enabled: false, path: '/var/log/rexd/audit.log', max_bytes: 16 * 1024 * 1024, keep: 5 },
};

export class ConfigError extends LocalError {
  override readonly name = 'ConfigError';

  constructor(file: string, message: string, cause?: unknown) {
    super('bad_config', `${file}: ${message}`, { facts: { file }, cause });
  }
}
