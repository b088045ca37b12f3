// docs/mcp-conformance.md: our score before MCP's official conformance referee, which MCP_REFEREE says where to find.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findReferee, REFEREE } from '../test/helpers/mcp-referee.js';
import { renderScore, takeScore } from '../test/helpers/mcp-score.js';
import { buildIfStale } from './build.js';
import { ROOT } from './paths.js';

const referee = findReferee();
if (referee === undefined) {
  console.error(
    `the referee is not there: npm install --prefix FOLDER ${REFEREE} node@22, then MCP_REFEREE=FOLDER npm run conformance:mcp`,
  );
  process.exitCode = 2;
} else {
  await buildIfStale();
  const page = renderScore(await takeScore(referee));
  writeFileSync(join(ROOT, 'docs/mcp-conformance.md'), page);
  for (const line of page.matchAll(/^## (.*)$/gm)) console.log(line[1]);
}
