// MCP's official conformance referee, run against a server; what it found, scenario by scenario.
//
// It needs Node 22 and is far larger than anything it is used for, so it is no dependency of ours. It is looked for in the
// folder that MCP_REFEREE names, into which both are installed by
//   npm install --prefix /some/where @modelcontextprotocol/conformance@0.2.0-alpha.12 node@22

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { removeFolder } from './remove-folder.js';

export const REFEREE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

export interface Verdict {
  readonly scenario: string;
  readonly passed: boolean;
  readonly checks: number;
  /** Why it does not count, if so: an extension, younger than the revision, or not ready. */
  readonly unscored?: string;
  /** What was found wrong, in the referee's words. */
  readonly faults: readonly string[];
}

/** The command that runs it, or undefined where it is not installed. */
export function findReferee(): readonly [string, string] | undefined {
  const folder = process.env['MCP_REFEREE'];
  if (folder === undefined || folder === '') return undefined;
  const program = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const node = join(folder, 'node_modules/node/bin/node');
  const isNew = Number.parseInt(process.versions.node, 10) >= 22;
  if (!existsSync(program) || !(existsSync(node) || isNew)) return undefined;
  return [existsSync(node) ? node : process.execPath, program];
}

/** Everything that the frozen set of a revision has for servers. */
export async function judge(
  [node, program]: readonly [string, string],
  url: string,
  revision: Revision,
): Promise<Verdict[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-referee-'));
  try {
    const args = [program, 'server', '--url', url, '--requirements', revision, '-o', folder];
    const child = spawn(node, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const verdicts = readVerdicts(out, folder);
    if (verdicts.length === 0) throw new Error(`the referee has judged nothing: ${err.slice(-2000)}`);
    return verdicts;
  } finally {
    removeFolder(folder);
  }
}

/** The summary has a line for each scenario; those that do not count are listed once more, with the reason. */
function readVerdicts(out: string, folder: string): Verdict[] {
  const summary = out.slice(out.lastIndexOf('=== SUMMARY ==='));
  const unscored = new Map(
    [...summary.matchAll(/^ {2}[✓✗] (\S+) \(([\w-]+)\)/gm)].map(([, name = '', why = '']) => [name, why]),
  );
  const folders = readdirSync(folder);
  return [...summary.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed/gm)].map(
    ([, mark, scenario = '', good, bad]) => {
      const why = unscored.get(scenario);
      const results = folders.filter((name) => new RegExp(`^server-${scenario}-\\d{4}-`).test(name));
      return {
        scenario,
        passed: mark === '✓',
        checks: Number(good) + Number(bad),
        ...(why !== undefined && { unscored: why }),
        faults: results.flatMap((name) => faultsIn(join(folder, name, 'checks.json'))),
      };
    },
  );
}

function faultsIn(file: string): string[] {
  const checks = JSON.parse(readFileSync(file, 'utf8')) as {
    id: string;
    status: string;
    errorMessage?: string;
  }[];
  return checks
    .filter(({ status }) => status === 'FAILURE')
    .map(({ id, errorMessage = '' }) => `${id}: ${errorMessage}`);
}
