// What there is on a host: looked at by ssh alone, before there is a rexd to ask.

import { LocalError } from '../../base/errors.js';
import { type ConnectError, explainFailure } from './explain-failure.js';
import { runBySsh, type SshRunOptions } from './run-by-ssh.js';
import type { SshTarget } from './target.js';

/** A host that has not answered by then is taken for one that does not. */
const PROBE_TIMEOUT_MS = 30_000;
/** The oldest Node that rexd runs on. */
const OLDEST_NODE = 20;

export interface HostFacts {
  readonly home: string;
  readonly user: string;
  readonly shell: string;
  /** `Linux x86_64`. */
  readonly system: string;
  readonly node: { readonly path: string; readonly version: string; readonly inPath: boolean } | undefined;
  /** A configuration of rexd that is there: the user's, else the machine's. */
  readonly config: string | undefined;
  /** Where the user's would be. */
  readonly userConfig: string;
  /** What the login printed although nobody asked. */
  readonly noise: string;
}

export type SshOptionsHere = Pick<SshRunOptions, 'signal' | 'controlFolder'>;

const MARK = 'REX>';

/** No single quotes: all of it is one word in them. */
const SCRIPT = `
say() { printf "%s\\n" "${MARK}$1=$2"; }
printf "\\n%s\\n" "${MARK}begin="
say home "$HOME"; say user "$(id -un 2>/dev/null)"; say shell "$SHELL"; say system "$(uname -s) $(uname -m)"
n=$(command -v node 2>/dev/null); p=1
if [ -z "$n" ]; then p=0
  for f in "$HOME"/.nvm/versions/node/*/bin/node "$HOME"/.volta/bin/node "$HOME"/.local/bin/node /usr/local/bin/node /opt/node/bin/node /opt/homebrew/bin/node /snap/bin/node; do
    [ -x "$f" ] && n=$f
  done
fi
[ -n "$n" ] && { say node "$n"; say version "$("$n" --version 2>/dev/null)"; say inpath "$p"; }
u=\${XDG_CONFIG_HOME:-$HOME/.config}/rexd/config.toml; say userconfig "$u"
for c in "$u" /etc/rexd/config.toml; do [ -e "$c" ] && { say config "$c"; break; }; done
say end ""`;

/** Rejects with a ConnectError, or a LocalError `no_shell` when something else than a shell has answered. */
export async function probeHost(
  alias: string,
  target: SshTarget,
  options: SshOptionsHere,
): Promise<HostFacts> {
  const run = await runBySsh(target, SCRIPT, [], { ...options, timeoutMs: PROBE_TIMEOUT_MS }).catch(
    (thrown: unknown) => {
      throw thrown instanceof LocalError ? failureOf(alias, thrown, { stderr: '', code: undefined }) : thrown;
    },
  );
  const begin = run.stdout.indexOf(`${MARK}begin=`);
  if (begin === -1 || !run.stdout.includes(`${MARK}end=`)) {
    if (run.code !== 0) throw failureOf(alias, new LocalError('no_answer', 'the host did not answer'), run);
    const shown = JSON.stringify(run.stdout.trim().slice(0, 400));
    throw new LocalError('no_shell', `the login of ${alias} runs no commands; it printed: ${shown}`);
  }
  return readFacts(run.stdout, begin);
}

function failureOf(
  alias: string,
  error: Error,
  { stderr, code }: { readonly stderr: string; readonly code: number | undefined },
): ConnectError {
  return explainFailure({ alias, remote: true, error, stderr: stderr.trim(), noise: '', exitCode: code });
}

function readFacts(printed: string, begin: number): HostFacts {
  const facts = new Map(
    [...printed.slice(begin).matchAll(/^REX>(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [
      key,
      value.trim(),
    ]),
  );
  const get = (key: string): string => facts.get(key) ?? '';
  return {
    home: get('home'),
    user: get('user'),
    shell: get('shell'),
    system: get('system'),
    node:
      get('node') === ''
        ? undefined
        : { path: get('node'), version: get('version').replace(/^v/, ''), inPath: get('inpath') === '1' },
    config: facts.get('config'),
    userConfig: get('userconfig'),
    noise: printed.slice(0, begin).trim(),
  };
}

/** In words: what is wrong with its Node for rexd, undefined when nothing is. */
export function nodeProblem({ node }: HostFacts): string | undefined {
  if (node === undefined) return 'there is no Node on the host';
  const major = Number(node.version.split('.')[0]);
  return major >= OLDEST_NODE ? undefined : `Node ${node.version} is too old (${node.path})`;
}
