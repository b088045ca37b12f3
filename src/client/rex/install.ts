// Brings rexd to a host: one file, by the user's own ssh, under its name only when its hash was found right over there.

import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { LocalError } from '../../base/errors.js';
import type { HostFacts, SshOptionsHere } from './probe-host.js';
import { quoteWord } from './quote-word.js';
import { runBySsh, type SshRun } from './run-by-ssh.js';
import type { SshTarget } from './target.js';

/** A binary is a hundred megabytes, and lines are slow. */
const UPLOAD_TIMEOUT_MS = 30 * 60_000;
const REMOVE_TIMEOUT_MS = 30_000;

export class InstallError extends LocalError {
  override readonly name = 'InstallError';

  constructor(message: string, facts: Record<string, unknown> = {}) {
    super('install_failed', message, { facts });
  }
}

const FIND_SUM = `
sum() {
  if command -v sha256sum >/dev/null 2>&1; then s=$(sha256sum < "$1")
  elif command -v shasum >/dev/null 2>&1; then s=$(shasum -a 256 < "$1")
  elif command -v openssl >/dev/null 2>&1; then s=$(openssl dgst -sha256 -r < "$1")
  else echo "REX>no_sum=1"; exit 3; fi
  s=\${s%% *}
}`;

/** $1 folder, $2 name, $3 sha256. The temporary name is the process's own, and goes away with it whatever happens. */
const UPLOAD = `${FIND_SUM}
set -e; umask 022
[ -d "$1" ] || mkdir -p "$1"
[ ! -d "$1/$2" ] || { echo "REX>is_folder=1"; exit 5; }
t="$1/.$2.new.$$"
clean() { rm -f "$t"; }
trap clean EXIT; trap "exit 1" HUP INT TERM
cat > "$t"
sum "$t"; echo "REX>sha256=$s"
[ "$s" = "$3" ] || exit 4
chmod 755 "$t"; mv -f "$t" "$1/$2"; echo "REX>installed=1"`;

/** $1 file: made only when nothing is there, and private. */
const PUT_CONFIG = `
set -e; umask 077
[ ! -e "$1" ] || { echo "REX>there=1"; exit 0; }
mkdir -p "\${1%/*}"
t="$1.new.$$"
clean() { rm -f "$t"; }
trap clean EXIT; trap "exit 1" HUP INT TERM
cat > "$t"; ln "$t" "$1"; echo "REX>written=1"`;

const REMOVE = `
[ -e "$1" ] || { echo "REX>absent=1"; exit 0; }
[ ! -d "$1" ] || exit 5
rm -f "$1" && echo "REX>removed=1"`;

export interface Upload {
  readonly bytes: Buffer;
  /** Where it goes on the host. */
  readonly path: string;
  readonly onSent?: (bytes: number) => void;
}

/** Resolves to the sha256 that the host itself has found. */
export async function uploadFile(
  target: SshTarget,
  upload: Upload,
  options: SshOptionsHere,
): Promise<string> {
  const { bytes, path, onSent } = upload;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const words = [posix.dirname(path), posix.basename(path), sha256];
  const run = await runBySsh(target, UPLOAD, words, {
    ...options,
    input: bytes,
    timeoutMs: UPLOAD_TIMEOUT_MS,
    ...(onSent !== undefined && { onSent }),
  });
  if (has(run, 'installed')) return sha256;
  if (has(run, 'no_sum'))
    throw new InstallError(
      'the host has no sha256sum, shasum or openssl, so what arrived cannot be verified',
    );
  if (has(run, 'is_folder')) throw new InstallError(`${path} is a folder on the host; give a file with --to`);
  const arrived = /^REX>sha256=([0-9a-f]{64})$/m.exec(run.stdout)?.[1];
  if (arrived !== undefined && arrived !== sha256)
    throw new InstallError(
      `what arrived is not what was sent (sha256 ${arrived}, sent ${sha256}); nothing was changed`,
    );
  throw new InstallError(`${path} could not be written${sayWhy(run)}; nothing was changed`);
}

/** False when there was one already. */
export async function putConfig(
  target: SshTarget,
  file: string,
  text: string,
  options: SshOptionsHere,
): Promise<boolean> {
  const input = Buffer.from(text);
  const run = await runBySsh(target, PUT_CONFIG, [file], { ...options, input, timeoutMs: REMOVE_TIMEOUT_MS });
  if (has(run, 'written')) return true;
  if (has(run, 'there')) return false;
  throw new InstallError(`${file} could not be written${sayWhy(run)}`);
}

/** False when it was not there. */
export async function removeFile(target: SshTarget, path: string, options: SshOptionsHere): Promise<boolean> {
  const run = await runBySsh(target, REMOVE, [path], { ...options, timeoutMs: REMOVE_TIMEOUT_MS });
  if (has(run, 'removed')) return true;
  if (has(run, 'absent')) return false;
  throw new InstallError(`${path} could not be removed${sayWhy(run)}`);
}

/**
 * The recommended limits are for agents that connect by themselves. Who installs a target runs builds there and reads
 * their output to the end.
 */
const ROOMY_LIMITS = `# Larger than the defaults: commands of people write more than a megabyte and take longer than minutes.
[limits]
max_output_bytes = 1099511627776
max_file_read_bytes = 67108864
default_timeout_ms = 3600000
hard_timeout_ms = 86400000
max_processes_per_session = 64
`;

/** A configuration that gives these folders and nothing else. */
export function configText(roots: readonly string[]): string {
  // Every string of JSON is a string of TOML.
  const allowed = roots.map((root) => `[[security.allowed_roots]]\npath = ${JSON.stringify(root)}\n`);
  return [
    ROOMY_LIMITS,
    '# Written by "rex target install": the folders that clients may work in.\n',
    ...allowed,
  ].join('\n');
}

/** What the target runs from now on. A Node that no login finds is named. */
export function installedCommand(path: string, { node }: HostFacts, isBinary: boolean): string {
  const words = isBinary || node === undefined || node.inPath ? [path] : [node.path, path];
  return [...words.map(quoteWord), '--stdio'].join(' ');
}

function has({ stdout }: SshRun, key: string): boolean {
  return stdout.includes(`REX>${key}=1`);
}

function sayWhy({ stderr, code }: SshRun): string {
  const last = stderr.trim().split('\n').at(-1) ?? '';
  if (/no space left/i.test(stderr)) return ': the disk of the host is full';
  return last === '' ? ` (exit code ${code ?? 'none'})` : ` (it said: ${last.slice(0, 400)})`;
}
