// MCP Inspector's command line, if it is there: in node_modules, or in the folder that MCP_INSPECTOR names.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export function findInspector(): string | undefined {
  const named = process.env['MCP_INSPECTOR'];
  try {
    const found =
      named ??
      dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json'));
    const cli = join(found, 'clients/cli/build/index.js');
    return existsSync(cli) ? cli : undefined;
  } catch {
    return undefined;
  }
}
