// What an agent has to be told to start a server of ours that speaks MCP, each in its own words.

import { realpathSync } from 'node:fs';
import { UsageError } from './flags.js';

export interface ClientConfig {
  /** Where it belongs. */
  readonly file: string;
  readonly content: string;
  readonly hint: string;
}

interface ServerEntry {
  readonly name: string;
  readonly command: readonly string[];
  /** Variables of the environment that the server needs, where an agent hands on only those it is told. */
  readonly variables: readonly string[];
  /** Those of them that are set now, for agents that are started without them. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Past what most commands take; the tools have a bound of their own. */
const TOOL_TIMEOUT_S = 600;

const CLIENTS: Readonly<Record<string, (entry: ServerEntry) => Omit<ClientConfig, 'hint'>>> = {
  'claude-code': forClaude,
  claude: forClaude,
  codex: (entry) => ({ file: '~/.codex/config.toml', content: codexToml(entry) }),
  opencode: (entry) =>
    json('opencode.json', {
      $schema: 'https://opencode.ai/config.json',
      mcp: {
        [entry.name]: {
          type: 'local',
          command: entry.command,
          enabled: true,
          ...valuesAs('environment', entry),
        },
      },
    }),
  'opencode-2': (entry) =>
    json('opencode.json', {
      $schema: 'https://opencode.ai/config.json',
      mcp: {
        servers: {
          [entry.name]: { type: 'local', command: entry.command, ...valuesAs('environment', entry) },
        },
      },
    }),
  cursor: (entry) => json('.cursor/mcp.json', { mcpServers: { [entry.name]: programAndArgs(entry) } }),
  vscode: (entry) =>
    json('.vscode/mcp.json', { servers: { [entry.name]: { type: 'stdio', ...programAndArgs(entry) } } }),
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

/** The program and its arguments that start this very executable again, from anywhere. */
export function ownCommand(program: string, args: readonly string[], options: { npx: boolean }): string[] {
  const script = realpathSync(process.argv[1] ?? '');
  // What npx has fetched is thrown away some day.
  const npx = options.npx || script.includes('/_npx/');
  return npx ? ['npx', '-y', '-p', 'hawser', program, ...args] : [process.execPath, script, ...args];
}

function forClaude(entry: ServerEntry): Omit<ClientConfig, 'hint'> {
  return json('.mcp.json', { mcpServers: { [entry.name]: { type: 'stdio', ...programAndArgs(entry) } } });
}

function programAndArgs(entry: ServerEntry) {
  const [command, ...args] = entry.command;
  return { command, args, ...valuesAs('env', entry) };
}

function valuesAs(key: string, { values = {} }: ServerEntry): object {
  return Object.keys(values).length === 0 ? {} : { [key]: values };
}

function json(file: string, value: unknown): { file: string; content: string } {
  return { file, content: `${JSON.stringify(value, null, 2)}\n` };
}

/** Codex gives a server few variables of the environment: those that are set are written down, others are handed on. */
function codexToml({ name, command: [command = '', ...args], variables, values = {} }: ServerEntry): string {
  const set = Object.entries(values).map(([key, value]) => `${key} = ${quote(value)}`);
  const handedOn = variables.filter((each) => !Object.hasOwn(values, each));
  return [
    `[mcp_servers.${name}]`,
    `command = ${quote(command)}`,
    `args = [${args.map(quote).join(', ')}]`,
    ...(set.length === 0 ? [] : [`env = { ${set.join(', ')} }`]),
    `env_vars = [${handedOn.map(quote).join(', ')}]`,
    `tool_timeout_sec = ${TOOL_TIMEOUT_S}`,
    '',
  ].join('\n');
}

/** A basic string of TOML is written as JSON writes it, but for DEL. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u007F', String.raw`\u007F`);
}
