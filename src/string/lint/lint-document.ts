// What authors of documents get wrong, with the line in which they did.

import { type Page, parsePage } from '../document/page.js';
import { type Finding, lineOfKey } from './finding.js';
import { lintActions } from './lint-actions.js';
import { lintShortcuts } from './lint-shortcuts.js';

/** Of one document: whoever sees these will not look for more. */
export const MAX_FINDINGS = 1000;

/** In the order of their lines. Nothing is run, and nothing but the text is looked at. */
export function lintDocument(source: string): readonly Finding[] {
  const page = parsePage(source);
  return [...lintPage(page), ...lintActions(page), ...lintShortcuts(page)]
    .sort((one, other) => one.line - other.line)
    .slice(0, MAX_FINDINGS);
}

function lintPage(page: Page): Finding[] {
  const findings = page.warnings.map(({ line, message }): Finding => {
    const [, code, text = message] = /^([A-Z][A-Z_]+): (.*)$/su.exec(message) ?? [];
    const isFrontmatter = page.lines[line - 1]?.frontmatter === true;
    return {
      line,
      code: code ?? (isFrontmatter ? 'INVALID_FRONTMATTER' : 'INVALID_DIRECTIVE'),
      message: text,
    };
  });
  const { type, name } = page.frontmatter;
  if ((type === 'app' || type === 'tool') && name === undefined)
    findings.push({
      line: lineOfKey(page, 'type'),
      code: 'MISSING_NAME',
      message: `type: ${type} without name: it is installed under the name of its file`,
    });
  return findings;
}
