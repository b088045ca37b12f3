// `npm run docs`: writes docs/protocol from the method tables, docs/config.md and docs/bus-config.md from the schemas, docs/limits.md from the code. With --check it only says what is stale.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ERROR_CODES } from '../src/rexd/protocol/errors.js';
import { EVENTS, METHODS } from '../src/rexd/protocol.js';
import { renderBusConfigPage } from './bus-config-page.js';
import { renderCommandsPage } from './commands-page.js';
import { renderConfigPage } from './config-page.js';
import { renderStringdPage } from './http-page.js';
import { renderHugindPage } from './hugind-page.js';
import { renderLimitsPage } from './limits-page.js';
import { ROOT } from './paths.js';
import { renderProtocolPage } from './protocol-page.js';
import { CODES_OF_JSON_RPC, ERROR_NOTES, METHOD_NOTES, REASONS_OF_INVALID_PARAMS } from './rexd-notes.js';

const pages: Readonly<Record<string, () => string>> = {
  'docs/bus-config.md': renderBusConfigPage,
  'docs/config.md': renderConfigPage,
  'docs/limits.md': renderLimitsPage,
  'docs/protocol/hugind.md': renderHugindPage,
  'docs/protocol/string-commands.md': renderCommandsPage,
  'docs/protocol/stringd.md': renderStringdPage,
  'docs/protocol/rexd.md': () =>
    renderProtocolPage({
      title: 'REXD v1',
      source: 'src/rexd/protocol.ts',
      methods: Object.values(METHODS),
      events: Object.values(EVENTS),
      errorCodes: ERROR_CODES,
      errorNotes: ERROR_NOTES,
      standardErrors: CODES_OF_JSON_RPC,
      invalidParams: REASONS_OF_INVALID_PARAMS,
      methodNotes: METHOD_NOTES,
    }),
};

const checkOnly = process.argv.includes('--check');
const stale: string[] = [];
for (const [name, render] of Object.entries(pages)) {
  const file = join(ROOT, name);
  const text = render();
  if (readOrEmpty(file) === text) continue;
  stale.push(name);
  if (checkOnly) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
if (checkOnly && stale.length > 0) {
  console.error(`stale: ${stale.join(', ')}. Run \`npm run docs\` and commit what it writes.`);
  process.exitCode = 1;
} else console.log(stale.length === 0 ? 'every page is up to date' : `written: ${stale.join(', ')}`);

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
