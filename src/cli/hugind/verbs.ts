// The nouns and verbs of hugind as a table: words and flags of each, and the params they are.

import type { Flag, Flags, Usage } from '../flags.js';
import { UsageError } from '../flags.js';

export interface VerbRow {
  readonly noun: string;
  readonly verb: string;
  readonly summary: string;
  /** What follows the verb. */
  readonly words: string;
  /** How many of them there must be, and may be. */
  readonly count: readonly [number, number];
  readonly flags?: Readonly<Record<string, Flag>>;
  readonly examples: readonly (readonly [string, string])[];
  readonly params: (words: readonly string[], flags: Flags) => Readonly<Record<string, unknown>>;
}

const COMMON: Readonly<Record<string, Flag>> = {
  json: { summary: 'print the result as one line of JSON, and a failure as {"error":{"code","message"}}' },
  help: { short: 'h', summary: 'print this text' },
};

const NO_PARAMS = (): Readonly<Record<string, unknown>> => ({});

export const VERBS: readonly VerbRow[] = [
  {
    noun: 'model',
    verb: 'list',
    summary: 'the repositories of the store that hold a finished model',
    words: '',
    count: [0, 0],
    examples: [['hugind model list', 'what there is to serve']],
    params: NO_PARAMS,
  },
  {
    noun: 'model',
    verb: 'show',
    summary: 'the files of a repository in the store',
    words: 'USER/REPO',
    count: [1, 1],
    examples: [['hugind model show user/tiny', 'its files and their sizes']],
    params: ([repo]) => ({ repo }),
  },
  {
    noun: 'model',
    verb: 'add',
    summary: 'fetch files from the hub, going on where an earlier attempt ended',
    words: 'USER/REPO FILE…',
    count: [2, Infinity],
    examples: [
      ['hugind model add user/tiny tiny-q8_0.gguf', 'one file'],
      [
        'hugind model add user/big big-00001-of-00003.gguf',
        'the first part of a split model brings the others',
      ],
    ],
    params: ([repo, ...files]) => ({ repo, files }),
  },
  {
    noun: 'model',
    verb: 'remove',
    summary: 'remove files of a repository from the store, or all of it',
    words: 'USER/REPO [FILE…]',
    count: [1, Infinity],
    flags: {
      all: { summary: 'the whole repository' },
      'if-empty': { summary: 'the repository too, when no file is left in it' },
    },
    examples: [
      [
        'hugind model remove user/tiny tiny-q8_0.gguf --if-empty',
        'one file, and its repository if that was the last',
      ],
      ['hugind model remove user/tiny --all', 'everything of it'],
    ],
    params: ([repo, ...files], flags) => ({
      repo,
      ...(files.length > 0 && { files }),
      ...(flags.has('all') && { delete_repo: true }),
      ...(flags.has('if-empty') && { delete_if_empty: true }),
    }),
  },
  {
    noun: 'config',
    verb: 'list',
    summary: 'the configs there are',
    words: '',
    count: [0, 0],
    examples: [['hugind config list', 'by name, with their files']],
    params: NO_PARAMS,
  },
  {
    noun: 'config',
    verb: 'init',
    summary: 'write a config for a model file, its context computed for this machine',
    words: 'NAME MODEL',
    count: [2, 2],
    flags: {
      ctx: { value: 'TOKENS', summary: 'the context of each sequence (default: what fits)' },
      mmproj: { value: 'FILE', summary: 'the file that lets the model see (default: one beside it)' },
      slots: { value: 'N', summary: 'sequences that are worked on at once (default: 4)' },
      fit: { summary: 'let the engine fit the model to the devices' },
      'fit-target-mib': { value: 'MIB', repeatable: true, summary: 'what stays free on a device, in order' },
      overwrite: { summary: 'change the one that is there; its comments and other keys stay' },
    },
    examples: [
      ['hugind config init tiny user/tiny/tiny-q8_0.gguf', 'for a file of the store'],
      ['hugind config init tiny ./tiny.gguf --ctx 4096 --slots 1', 'for any file'],
    ],
    params: ([name, model], flags) => ({
      name,
      model_path: model,
      ...numberFlag(flags, 'ctx', 'ctx'),
      ...numberFlag(flags, 'slots', 'n_slots'),
      ...(flags.has('mmproj') && { mmproj_path: flags.value('mmproj') }),
      ...(flags.has('fit') && { enable_fit: true }),
      ...(flags.has('fit-target-mib') && {
        fit_target_mib: flags.values('fit-target-mib').map((each) => toNumber('fit-target-mib', each)),
      }),
      ...(flags.has('overwrite') && { overwrite: true }),
    }),
  },
  {
    noun: 'config',
    verb: 'validate',
    summary: 'whether a config is one, and if not, why; exit 1 for one that is not',
    words: 'FILE|NAME',
    count: [1, 1],
    examples: [
      ['hugind config validate tiny', 'by its name'],
      ['hugind config validate ./tiny.yml', 'by its file'],
    ],
    params: ([path]) => ({ path }),
  },
  {
    noun: 'config',
    verb: 'info',
    summary: 'what this machine has to serve models with',
    words: '',
    count: [0, 0],
    examples: [['hugind config info --json', 'for programs']],
    params: NO_PARAMS,
  },
  {
    noun: 'config',
    verb: 'remove',
    summary: 'remove a config',
    words: 'NAME',
    count: [1, 1],
    flags: { yes: { short: 'y', summary: 'really' } },
    examples: [['hugind config remove tiny --yes', 'the model stays']],
    params: ([name], flags) => ({ name, confirm: flags.has('yes') }),
  },
  {
    noun: 'config',
    verb: 'defaults',
    summary: 'the settings, secrets masked',
    words: '',
    count: [0, 0],
    flags: {
      'hf-token-stdin': { summary: 'store the token for the hub, read from standard input' },
      'forget-hf-token': { summary: 'forget it' },
    },
    examples: [
      ['hugind config defaults', 'what is stored'],
      [
        'hugind config defaults --hf-token-stdin < token.txt',
        'a token is never a word of a command: others could see it',
      ],
    ],
    params: (_, flags) => (flags.has('forget-hf-token') ? { hf_token: '' } : {}),
  },
];

export const NOUNS: readonly string[] = ['stdio', ...new Set(VERBS.map(({ noun }) => noun))];

const NOTES = [
  [
    'Environment:',
    '  HUGIND_HOME   where everything is kept (else $XDG_CONFIG_HOME/hugind, else ~/.hugind)',
    '  HF_ENDPOINT   the hub (https://huggingface.co)',
    '  HF_TOKEN      the token for it; it is never sent to another host',
  ].join('\n'),
  'Exit codes: 0 done, 1 failed, 2 wrong usage, 124 out of time, 130 interrupted.',
];

export const USAGE: Usage = {
  program: 'hugind',
  summary:
    'local models: a store that is filled from a hub, configs to serve them by, and a bridge for programs',
  synopsis: [
    'hugind stdio                          serve one program on standard input and output, NDJSON and MCP',
    ...VERBS.map(
      ({ noun, verb, words, summary }) => `hugind ${`${noun} ${verb} ${words}`.padEnd(30)} ${summary}`,
    ),
  ].join('\n  '),
  flags: { version: { short: 'V', summary: 'print the version' }, help: COMMON['help'] as Flag },
  examples: [
    ['hugind model add user/tiny tiny-q8_0.gguf', 'fetch a model'],
    ['hugind config init tiny user/tiny/tiny-q8_0.gguf', 'say how it is served'],
    [`echo '{"id":1,"method":"model.list"}' | hugind stdio`, 'the same by the bridge'],
  ],
  notes: NOTES,
};

/** Of a noun, or of one of its verbs. */
export function usageOf(noun: string, verb?: string): Usage {
  if (noun === 'stdio') return STDIO;
  const rows = VERBS.filter((row) => row.noun === noun && (verb === undefined || row.verb === verb));
  const [row] = rows;
  if (row === undefined) return USAGE;
  return {
    program: `hugind ${noun}${verb === undefined ? '' : ` ${verb}`}`,
    summary: verb === undefined ? rows.map((each) => each.verb).join(', ') : row.summary,
    synopsis: rows.map((each) => `hugind ${each.noun} ${each.verb} ${each.words}`.trimEnd()).join('\n  '),
    flags: { ...(verb === undefined ? {} : row.flags), ...COMMON },
    examples: rows.flatMap(({ examples }) => examples),
    notes: NOTES,
  };
}

const STDIO: Usage = {
  program: 'hugind stdio',
  summary: 'the bridge: one JSON object a line, requests in NDJSON or as MCP, until standard input ends',
  synopsis: 'hugind stdio',
  flags: { help: COMMON['help'] as Flag },
  examples: [
    [`echo '{"id":"1","method":"config.info"}' | hugind stdio`, 'one request'],
    [`echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | hugind stdio`, 'the same methods as tools'],
  ],
  notes: NOTES,
};

function numberFlag(flags: Flags, name: string, param: string): Readonly<Record<string, number>> {
  const value = flags.value(name);
  return value === undefined ? {} : { [param]: toNumber(name, value) };
}

function toNumber(name: string, value: string): number {
  if (!/^\d{1,12}$/.test(value)) throw new UsageError(`--${name}: expected a whole number, got "${value}"`);
  return Number(value);
}
