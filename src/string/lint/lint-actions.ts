// What is wrong with the actions of a document: what would be dropped, what would be refused, what would be missed.

import type { Action } from '../actions/action.js';
import { parseAction } from '../actions/parse-action.js';
import { parseTemplate } from '../actions/parse-template.js';
import { readCommand } from '../actions/read-command.js';
import { splitTemplate } from '../actions/slot.js';
import type { ActionFence, Page } from '../document/page.js';
import { type Finding, lineOfKey } from './finding.js';

const RISKS = {
  number: 'bash calculates with it: only whole numbers will be accepted',
  subscript: 'bash calculates with it: no [ will be accepted',
  name: 'it names a variable there: only letters, digits and _ will be accepted',
  shell: 'a shell reads it once more: only plain words and paths will be accepted',
  code: 'it becomes part of a program there: only plain words will be accepted',
} as const;
/** Set for every command. */
const ALWAYS_SET = new Set([
  'ARGS',
  'HOME',
  'PATH',
  'PWD',
  'OLDPWD',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TZ',
  'TERM',
  'TMPDIR',
  'IFS',
  'RANDOM',
  'SECONDS',
  'HOSTNAME',
  'UID',
]);

export function lintActions(page: Page): Finding[] {
  const findings: Finding[] = [];
  const actions = new Map<string, Action | undefined>();
  for (const fence of page.fences.filter(({ part }) => part === 'action')) {
    if (actions.has(fence.id))
      findings.push({
        line: fence.line,
        code: 'DUPLICATE_ACTION',
        message: `there is an action ${fence.id} already`,
      });
    const { action, warnings } = parseAction(fence);
    if (!actions.has(fence.id)) actions.set(fence.id, action);
    findings.push(...warnings);
    if (action !== undefined) findings.push(...lintAction(page, fence, action));
  }
  for (const fence of page.fences.filter(({ part }) => part === 'response'))
    findings.push(...lintResponse(fence, actions));
  const first = page.frontmatter.default;
  if (first !== undefined && !actions.has(first))
    findings.push({
      line: lineOfKey(page, 'default'),
      code: 'ACTION_NOT_FOUND',
      message: `default: ${first} is no action of this document`,
    });
  return findings;
}

function lintAction(page: Page, fence: ActionFence, action: Action): Finding[] {
  const lines = fence.text.split('\n');
  const line =
    fence.line +
    1 +
    Math.max(
      0,
      lines.findIndex((text) => text.trim() !== ''),
    );
  const report = (code: string, message: string): Finding => ({
    line,
    code,
    message: `act.${action.id}: ${message}`,
  });
  const findings =
    action.method === 'CLI' ? lintCommand(action, slotsOfResponse(page, action.id), report) : [];
  const known = new Set([...page.frontmatter.requires, ...page.frontmatter.env.map(({ name }) => name)]);
  for (const name of variablesOf(action))
    if (!known.has(name))
      findings.push(
        report('UNDECLARED_VARIABLE', `$${name} is in no requires:, so nobody is told that it has to be set`),
      );
  return findings;
}

/** A field may be there for the answer alone. */
function slotsOfResponse({ fences }: Page, id: string): Set<string> {
  const responses = fences.filter((fence) => fence.part === 'response' && fence.id === id);
  const parts = responses.flatMap(({ text }) => splitTemplate(text));
  return new Set(parts.flatMap((part) => (part.kind === 'slot' ? [part.slot.name] : [])));
}

function lintCommand(
  action: Action,
  inResponse: ReadonlySet<string>,
  report: (code: string, message: string) => Finding,
): Finding[] {
  const findings: Finding[] = [];
  const used = new Set(inResponse);
  let takesAll = false;
  for (const part of readCommand(action.target)) {
    if (part.kind === 'variable') takesAll ||= part.name === 'ARGS';
    if (part.kind === 'variable' && part.name === 'ARGS' && part.quote !== 'plain')
      findings.push(report('UNSAFE_QUOTES', '$ARGS in quotes is one word: leave the quotes out'));
    if (part.kind !== 'slot') continue;
    takesAll ||= part.slot.spread;
    used.add(part.slot.name);
    if (part.quote !== 'plain')
      findings.push(
        report(
          'UNSAFE_QUOTES',
          `${part.slot.raw} in quotes: a value is quoted by itself, and elsewhere it would be run or torn by them; leave them out`,
        ),
      );
    if (part.risk !== undefined)
      findings.push(report('UNSAFE_SLOT', `${part.slot.raw}: ${RISKS[part.risk]}`));
  }
  for (const { name } of action.fields)
    if (!used.has(name) && !takesAll)
      findings.push(
        report('UNUSED_FIELD', `the field ${name} is neither in the command nor in its response`),
      );
  return findings;
}

function lintResponse(
  { id, line, text }: ActionFence,
  actions: ReadonlyMap<string, Action | undefined>,
): Finding[] {
  const findings = parseTemplate(text).problems.map(
    (problem): Finding => ({
      line,
      code: 'INVALID_TEMPLATE',
      message: `act.${id}.response: ${problem}`,
    }),
  );
  if (!actions.has(id))
    findings.push({
      line,
      code: 'ORPHAN_RESPONSE',
      message: `act.${id}.response belongs to no action`,
    });
  return findings;
}

/** Those in capitals: others may well be the shell's own. */
function variablesOf({ target, headers, body = '', method }: Action): Set<string> {
  const templates = [target, body, ...headers.map(({ value }) => value)];
  const parts = method === 'CLI' ? readCommand(target) : templates.flatMap((text) => splitTemplate(text));
  const names = parts.flatMap((part) => (part.kind === 'variable' ? [part.name] : []));
  const isAssigned = (name: string): boolean => new RegExp(`\\b${name}=`, 'u').test(target);
  return new Set(
    names.filter((name) => /^[A-Z][A-Z\d_]*$/u.test(name) && !ALWAYS_SET.has(name) && !isAssigned(name)),
  );
}
