// The environment of a command: what every program needs of ours, and what the request asked for. Nothing else, so that
// a token in the server's own environment is not handed to every command an agent thinks of.

const ALWAYS = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TERM',
  'COLORTERM',
  'TMPDIR',
  'EDITOR',
  'PAGER',
  'HOSTNAME',
  'SSH_AUTH_SOCK',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
]);
const FAMILIES = ['LC_', 'XDG_'];
/** A zero byte would end the text early, a "=" in a name would make it another variable. */
const BAD_NAME = /^$|[=\0]/;

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What a server passes on stays the same, and to ask for all variables of a process costs more than to start a program. */
const passedOn = new WeakMap<NodeJS.ProcessEnv, { names: readonly string[]; env: Record<string, string> }>();

export function buildEnvironment(
  server: NodeJS.ProcessEnv,
  passed: readonly string[],
  asked: Readonly<Record<string, string>> = {},
): Record<string, string> {
  let known = passedOn.get(server);
  if (known?.names !== passed) {
    known = { names: passed, env: choose(server, passed) };
    passedOn.set(server, known);
  }
  return { ...known.env, ...asked };
}

function choose(server: NodeJS.ProcessEnv, passed: readonly string[]): Record<string, string> {
  const allowed = new Set(passed);
  const env: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [name, value] of Object.entries(server)) {
    if (value === undefined) continue;
    if (ALWAYS.has(name) || allowed.has(name) || FAMILIES.some((family) => name.startsWith(family)))
      env[name] = value;
  }
  return env;
}

/** A shell stands between us and a detached process, and passes on only what could be a variable of its own. */
export function findVariableUnfitForShell(asked: Readonly<Record<string, string>> = {}): string | undefined {
  return Object.keys(asked).find((name) => !/^[A-Za-z_]\w*$/.test(name));
}

/** The first variable that no program could be given as it is asked for. */
export function findBadVariable(asked: Readonly<Record<string, string>> = {}): string | undefined {
  return Object.keys(asked).find((name) => BAD_NAME.test(name) || asked[name]?.includes('\0') === true);
}
