// An answer that goes through a template: what the topic remembers of it, what is written, what is shown.

import { join } from 'node:path';
import { writeFile } from '../../host/files/write.js';
import { isInside } from '../../host/files/is-inside.js';
import { TooManyVariablesError } from '../session/session.js';
import { type CommandResult, type Failure, fail, show } from '../result.js';
import type { Action } from './action.js';
import { parseTemplate } from './parse-template.js';
import type { Inputs } from './read-inputs.js';
import { type FileToKeep, renderTemplate } from './render-template.js';
import type { Scene } from './scene.js';
import { showText } from './show-text.js';

export interface Answer {
  readonly action: Action;
  readonly inputs: Inputs;
  readonly template: string;
  readonly response: Readonly<Record<string, unknown>>;
  /** Then nothing is written to files. */
  readonly failed: boolean;
}

/** What only the daemon itself writes in a home; an answer from somewhere else has no say in it. */
const KEPT_FROM_ANSWERS = ['config.json', 'packages', 'apps', 'tools', 'events'];

export async function answer(
  scene: Scene,
  { action, inputs, template, response, failed }: Answer,
): Promise<CommandResult> {
  const { session } = scene.call;
  const { lines, problems } = parseTemplate(template);
  const rendered = renderTemplate(lines, {
    response,
    values: inputs.values,
    variables: session.variables,
    isDeclared: (name) => action.fields.some((field) => field.name === name),
  });
  const kept = failed ? [] : await keepFiles(scene, rendered.files);
  if (!Array.isArray(kept)) return kept;
  try {
    session.setVariables(fitVariables(scene, rendered.variables));
  } catch (thrown) {
    if (!(thrown instanceof TooManyVariablesError)) throw thrown;
    return fail('INVALID_PAYLOAD', thrown.message);
  }
  let leftOut = 0;
  for (const [name, values] of rendered.shortcuts) leftOut += session.shortcuts.setValues(name, values);
  const notes = [
    ...problems.map((problem) => `act.${action.id}.response: ${problem}`),
    ...(leftOut === 0 ? [] : [`${leftOut} shortcuts did not fit into this topic`]),
    ...kept,
  ];
  return show([await showText(scene, rendered.output), ...notes].filter((text) => text !== '').join('\n'));
}

/** A page from the web cannot set what programs of this machine are steered by. */
function fitVariables({ trust }: Scene, variables: ReadonlyMap<string, string>): [string, string][] {
  return [...variables].filter(
    ([name]) => trust !== 'remote' || !(CAPITALS.test(name) || STEERS_PROGRAMS.test(name)),
  );
}

/** So the names of the environment are written, with few exceptions. */
const CAPITALS = /^[A-Z][A-Z0-9_]*$/u;
const STEERS_PROGRAMS =
  /^(?:PATH|npm_config_.*|ENV|IFS|SHELL|HOME|PS\d|.*_ENV|.+_OPT(?:S|IONS)|LESS.*|JAVA_.*|LD_.*|DYLD_.*|BASH.*|PROMPT_.*|PYTHON.*|PERL.*|RUBY.*|NODE_.*|GIT_.*|SSH_.*|.*_PAGER|PAGER|EDITOR|VISUAL|BROWSER|.*_PROXY|SSL_.*|CURL_.*|GCONV_PATH|LOCPATH|TERMINFO.*)$/iu;

/** Below the agent's home unless an absolute path says otherwise, and never what the home itself is made of. */
async function keepFiles(
  { call, trust, policy }: Scene,
  files: readonly FileToKeep[],
): Promise<string[] | Failure> {
  const lines: string[] = [];
  const { runtime, signal } = call;
  const { home } = runtime.agent;
  for (const { path, data } of files) {
    if (trust === 'remote')
      return fail('FILE_NOT_ALLOWED', `Pages from the web cannot write files of this machine: ${path}`);
    if (!policy.allows(trust, 'files'))
      return fail('FILE_NOT_ALLOWED', `The policy of this agent lets no answer write a file: ${path}`);
    try {
      const roots = runtime.files.roots();
      const target = roots.resolve(path.startsWith('~/') ? `${home}${path.slice(1)}` : path, home);
      if (KEPT_FROM_ANSWERS.some((name) => isInside(target, join(home, name))))
        return fail('FILE_NOT_ALLOWED', `An answer cannot write there: ${path}`);
      await writeFile(roots.files, target, data, { mkdirParents: true, signal });
      lines.push(`Saved: ${runtime.files.shorten(target)} (${data.length} bytes)`);
    } catch (thrown) {
      return runtime.files.explain(thrown, path);
    }
  }
  return lines;
}
