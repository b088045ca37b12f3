// What an agent has to be told to start `rex mcp`, each in its own words.

import { realpathSync } from 'node:fs';
import { UsageError } from '../../flags.js';

export interface ClientConfig {
  /** Where it belongs. */
  readonly file: string;
  readonly content: string;
  readonly hint: string;
}

interface ServerEntry {
  readonly name: string;
  readonly command: readonly string[];
}

/** Past what most commands take; the tools have a bound of their own. */
const TOOL_TIMEOUT_S = 600;

const CLIENTS: Readonly<Record<string, (entry: ServerEntry) => Omit<ClientConfig, 'hint'>>> = {
  'claude-code': ({ name, command }) =>
    json('.mcp.json', { mcpServers: { [name]: { type: 'stdio', ...programAndArgs(command) } } }),
  codex: ({ name, command }) => ({ file: '~/.codex/config.toml', content: codexToml(name, command) }),
  opencode: ({ name, command }) =>
    json('opencode.json', {
      $schema: 'https://opencode.ai/config.json',
      mcp: { [name]: { type: 'local', command, enabled: true } },
    }),
  'opencode-2': ({ name, command }) =>
    json('opencode.json', {
      $schema: 'https://opencode.ai/config.json',
      mcp: { servers: { [name]: { type: 'local', command } } },
    }),
  cursor: ({ name, command }) =>
    json('.cursor/mcp.json', { mcpServers: { [name]: programAndArgs(command) } }),
  vscode: ({ name, command }) =>
    json('.vscode/mcp.json', { servers: { [name]: { type: 'stdio', ...programAndArgs(command) } } }),
};

/** Throws a UsageError for an agent that is not known. */
export function clientConfig(client: string, entry: ServerEntry): ClientConfig {
  if (!/^[\w-]{1,64}$/.test(entry.name))
    throw new UsageError(`--name: "${entry.name}" is no name: letters, digits, "_" and "-"`);
  const make = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
  if (make === undefined)
    throw new UsageError(`--client: "${client}" is not known; there are: ${Object.keys(CLIENTS).join(', ')}`);
  const config = make(entry);
  return { ...config, hint: `This belongs in ${config.file}; what is there already stays beside it.` };
}

/** The program and its arguments that start this very rex again, from anywhere. */
export function rexCommand(options: { npx: boolean; target: string | undefined }): string[] {
  const rest = ['mcp', ...(options.target === undefined ? [] : ['--target', options.target])];
  const script = realpathSync(process.argv[1] ?? '');
  // What npx has fetched is thrown away some day.
  const npx = options.npx || script.includes('/_npx/');
  return npx ? ['npx', '-y', '-p', 'hawser', 'rex', ...rest] : [process.execPath, script, ...rest];
}

function programAndArgs([command, ...args]: readonly string[]) {
  return { command, args };
}

function json(file: string, value: unknown): { file: string; content: string } {
  return { file, content: `${JSON.stringify(value, null, 2)}\n` };
}

/** Codex gives a server few variables of the environment; without the agent's socket ssh would ask for a passphrase. */
function codexToml(name: string, [command = '', ...args]: readonly string[]): string {
  return [
    `[mcp_servers.${name}]`,
    `command = ${quote(command)}`,
    `args = [${args.map(quote).join(', ')}]`,
    `env_vars = ["SSH_AUTH_SOCK"]`,
    `tool_timeout_sec = ${TOOL_TIMEOUT_S}`,
    '',
  ].join('\n');
}

/** A basic string of TOML is written as JSON writes it, but for DEL. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u007F', String.raw`\u007F`);
}
