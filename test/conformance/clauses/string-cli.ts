// The clauses of the command line of String: forms of call, answers, exit codes, environment.

import type { Clause } from './clause.js';

const cli = (text: string, source = 'CLI'): Clause => ({
  text,
  source: `string "${source}"`,
  transports: ['cli'],
});

export const stringCli = {
  'string/cli/one-shot': cli('string TOPIC BODY prints the envelope of the answer and ends with 0'),
  'string/cli/failure': cli(
    'a failure is printed as ERROR(CODE): message in the envelope, and ends with 1',
    'Result rendering',
  ),
  'string/cli/json': cli('--json prints ok, topic, content, and code for a failure', 'Result rendering'),
  'string/cli/raw': cli('--raw prints the answer bare, and passes on the exit status of a shell command'),
  'string/cli/default-topic': cli('a command without a topic is for main, or for what it opens'),
  'string/cli/words': cli('one word is sent as it is, several arrive as the words they were'),
  'string/cli/stdin': cli('- takes the command, or the body of one, from standard input'),
  'string/cli/hubs': cli('a hub shows its page, and takes its verbs without a slash'),
  'string/cli/hub-help': cli('help of a hub needs no daemon'),
  'string/cli/webhook-word': cli('string webhook points to string event webhook show'),
  'string/cli/piped-prompt': cli('string TOPIC executes the lines of its input one by one, up to /exit'),
  'string/cli/flags': cli('flags stand before the topic; an unknown one is refused'),
  'string/cli/usage': cli(
    '--help has examples and exit codes, --version the version; without words there is the help',
  ),
  'string/cli/invalid-topic': cli('what is no topic is refused before a daemon is asked', 'Grammar'),
  'string/cli/port': cli('STRING_PORT that is no port is refused by name and value', 'Environment variables'),
  'string/cli/agent': cli('--agent, STRING_AGENT_ID, project, user: the first that names an agent'),
  'string/cli/agent-use': cli(
    'agent use --local writes into the project; agent current tells what counts',
    'Hub pages',
  ),
  'string/cli/home-kept': cli('a plain call registers the agent and never changes its home'),
  'string/cli/auto-start': cli('the daemon is started when there is none, and lives on'),
  'string/cli/daemon': cli(
    '--daemon start, status and stop say what they did, in the words of the specification',
  ),
  'string/cli/foreground': cli('--daemon foreground PORT is the daemon'),
  'string/cli/port-taken': cli('a port that another program has is told as that'),
  'string/cli/queue': cli('QUEUE_FULL is told by its code, and that the command has not run', 'Error codes'),
  'string/cli/timeout': cli('--timeout calls the command off and ends with 124'),
  'string/cli/interrupt': cli('Ctrl-C calls the command off and ends with 130'),
  'string/cli/chanflow-exit': cli('--chanflow ends with 0, also when a block failed: its answer says so'),
  'string/cli/chanflow-timeout': cli(
    '--chanflow --timeout calls the block off that takes too long, begins none after it, says which is which, and ends with 124',
  ),
  'string/cli/chanflow-interrupt': cli(
    'Ctrl-C of --chanflow, or its sudden end, calls the running block off',
  ),
  'string/cli/json-failures': cli(
    '--json prints ok, topic, code and content also when there is no answer: out of time, nobody there, no such topic',
    'Result rendering',
  ),
  'string/cli/impossible-names': cli('names of agents and commands that cannot be are wrong usage: 2'),
  'string/cli/unfinished-body': cli('a body that its input does not end is not executed, and told of'),
  'string/cli/foreign-port': cli('what answers on the port and is no stringd is told as that, and not shown'),
  'string/cli/silent-port': cli('what has the port and says nothing is told of in seconds'),
  'string/cli/odd-folder': cli('a data folder that cannot be one is told of in words'),
  'string/cli/send-input': cli('//send - types what stands on standard input into the program that waits'),
  'string/cli/mcp-config': cli(
    'mcp config hands on where the daemon is, with whole paths, and which agent asks',
    'Environment variables',
  ),
  'string/cli/argv': cli('nothing that is read from standard input appears in an argument of a process'),
} as const satisfies Readonly<Record<string, Clause>>;
