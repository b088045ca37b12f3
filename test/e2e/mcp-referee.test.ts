// The official referee of MCP judges our core and stringd, revision by revision; docs/mcp-conformance.md has its verdicts.

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { findReferee, REFEREE, REVISIONS } from '../helpers/mcp-referee.js';
import { FIXTURE_FREE, REASONS, renderScore, type Score, takeScore } from '../helpers/mcp-score.js';

const referee = findReferee();
if (referee === undefined)
  process.stderr.write(
    `The referee of MCP is not there, so its tests are skipped: install ${REFEREE} and node@22 beside the project and set MCP_REFEREE to that folder\n`,
  );

describe.skipIf(referee === undefined)('before the referee', () => {
  let scores: readonly Score[];

  beforeAll(async () => {
    scores = await takeScore(referee ?? ['', '']);
  }, 240_000);

  test.each(REVISIONS)('the core passes all of %s but what needs a session or is not served', (revision) => {
    const { core } = scores.find((score) => score.revision === revision) ?? { core: [] };
    const failed = core.filter(({ passed }) => !passed);
    expect(failed.map(({ scenario }) => scenario).toSorted()).toEqual(
      Object.keys(REASONS[revision]).toSorted(),
    );
    expect(
      core.filter(({ passed, unscored }) => passed && unscored === undefined).length,
    ).toBeGreaterThanOrEqual(24);
  });

  test.each(REVISIONS)('stringd passes what needs no fixture in %s', (revision) => {
    const { stringd } = scores.find((score) => score.revision === revision) ?? { stringd: [] };
    const judged = FIXTURE_FREE[revision].map((name) => stringd.find(({ scenario }) => scenario === name));
    expect(judged.filter((verdict) => verdict?.passed !== true)).toEqual([]);
  });

  test('without a session, stringd fails no check that can be made without the tools of the referee', () => {
    const verdict = scores
      .find(({ revision }) => revision === '2026-07-28')
      ?.stringd.find(({ scenario }) => scenario === 'server-stateless');
    expect(verdict?.checks).toBeGreaterThan(20);
    expect(verdict?.faults.filter((fault) => !fault.includes('Not testable'))).toEqual([]);
  });

  test('the page has what was found', () => {
    const page = readFileSync(new URL('../../docs/mcp-conformance.md', import.meta.url), 'utf8');
    expect(page).toBe(renderScore(scores));
  });
});
