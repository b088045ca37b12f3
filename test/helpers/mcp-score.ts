// The score of our MCP before the official referee: stringd as it is, and the same core with the tools that the referee calls.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRefereeServer } from '../fixtures/mcp/referee-server.js';
import { judge, REFEREE, REVISIONS, type Revision, type Verdict } from './mcp-referee.js';
import { bin, Program } from './program.js';
import { removeFolder } from './remove-folder.js';

export interface Score {
  readonly revision: Revision;
  readonly core: readonly Verdict[];
  readonly stringd: readonly Verdict[];
}

/** What needs nothing but the protocol: any server must pass it, stringd too. */
export const FIXTURE_FREE: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'logging-set-level',
    'ping',
    'tools-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'tools-list',
    'server-sse-multiple-streams',
    'sep-2164-resource-not-found',
    'dns-rebinding-protection',
    'http-header-validation',
  ],
};

const NO_WAY_BACK =
  'The server asks the client in the middle of a call. Over HTTP the answer comes by a request of its own, and without a session nothing says that it is from the same client. In 2026-07-28 the same is asked by `input_required`, which passes; over standard streams it works in both eras.';
const NO_SESSION =
  'A subscription belongs to a session, and there is none. It is refused, and not announced, instead of accepted and forgotten.';
const NOT_SERVED = 'Of the extension for tasks, which is not served.';
const NO_SUCH_TOOL = 'Needs a tool that is not among our fixtures; it does not count for the revision.';

/** Of the core with the referee's tools: what does not pass, and why. Everything else does. */
export const REASONS: Readonly<Record<Revision, Readonly<Record<string, string>>>> = {
  '2025-11-25': {
    'tools-call-sampling': NO_WAY_BACK,
    'tools-call-elicitation': NO_WAY_BACK,
    'elicitation-sep1034-defaults': NO_WAY_BACK,
    'elicitation-sep1330-enums': NO_WAY_BACK,
    'resources-subscribe': NO_SESSION,
    'resources-unsubscribe': NO_SESSION,
    'json-schema-2020-12': NO_SUCH_TOOL,
  },
  '2026-07-28': {
    'tasks-lifecycle': NOT_SERVED,
    'tasks-capability-negotiation': NOT_SERVED,
    'tasks-wire-fields': NOT_SERVED,
    'tasks-request-state-removal': NOT_SERVED,
    'tasks-mrtr-input': NOT_SERVED,
    'tasks-request-headers': NOT_SERVED,
    'tasks-dispatch-and-envelope': NOT_SERVED,
    'tasks-required-task-error': NOT_SERVED,
    'tasks-mrtr-composition': NOT_SERVED,
    'json-schema-2020-12': NO_SUCH_TOOL,
    'http-custom-header-server-validation': NO_SUCH_TOOL,
  },
};

/** Of the built stringd, and of the core as it is in the sources. */
export async function takeScore(referee: readonly [string, string]): Promise<Score[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-score-'));
  try {
    await using core = await startRefereeServer();
    await using stringd = new Program([process.execPath, bin('stringd'), '--port', '0', '--json'], {
      env: { HOME: folder, STRING_ROOT: join(folder, 'string'), STRING_DATA_DIR: join(folder, 'data') },
    });
    const { url } = JSON.parse((await stringd.line()) ?? '{}') as { url: string };
    return await Promise.all(
      REVISIONS.map(async (revision) => {
        const [ofCore, ofStringd] = await Promise.all([
          judge(referee, core.url, revision),
          judge(referee, `${url}/mcp`, revision),
        ]);
        return { revision, core: ofCore, stringd: ofStringd };
      }),
    );
  } finally {
    removeFolder(folder);
  }
}

/** docs/mcp-conformance.md */
export function renderScore(scores: readonly Score[]): string {
  return [
    '# MCP conformance',
    `Written by \`npm run conformance:mcp\` from a run of the official referee, \`${REFEREE}\`, with the frozen requirement sets of two revisions. Do not edit.`,
    '*Core* is a server for tests that has the tools, prompts and resources that the referee calls by name, on the same `src/mcp` that `stringd` and `rex` are served by, over HTTP without sessions. *stringd* is the daemon itself at `/mcp`: it has one tool and none of the fixtures, so only scenarios that need none can pass (`–` for all others).',
    ...scores.flatMap(renderRevision),
  ]
    .join('\n\n')
    .concat('\n');
}

function renderRevision({ revision, core, stringd }: Score): string[] {
  const scored = core.filter(({ unscored }) => unscored === undefined);
  const passed = scored.filter((verdict) => verdict.passed);
  return [
    `## ${revision}: ${passed.length} of ${scored.length}`,
    [
      '| scenario | core | stringd | reason |',
      '|---|---|---|---|',
      ...core.map((verdict) => {
        const { scenario, unscored } = verdict;
        const name = unscored === undefined ? scenario : `${scenario} (does not count: ${unscored})`;
        const own = stringd.find((each) => each.scenario === scenario);
        const isFree = FIXTURE_FREE[revision].includes(scenario);
        const reason = REASONS[revision][scenario] ?? (verdict.checks === 0 ? NOTHING_TO_CHECK : '');
        return `| ${name} | ${mark(verdict)} | ${isFree && own !== undefined ? mark(own) : '–'} | ${reason} |`;
      }),
    ].join('\n'),
  ];
}

const NOTHING_TO_CHECK = 'The referee finds nothing to check here.';

function mark({ passed }: Verdict): string {
  return passed ? '✓' : '✗';
}
