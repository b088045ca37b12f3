// /act: the actions of the page that is open; `/act.NAME` runs one of them.

import { actionsOf } from '../actions/action-page.js';
import { describeActions } from '../actions/describe-action.js';
import { runAction } from '../actions/run-action.js';
import { openScene } from '../actions/scene.js';
import { currentPage } from '../view/current-page.js';
import type { LoadedPage } from '../files/load-document.js';
import { type CommandResult, type Failure, fail } from '../result.js';
import type { Command, CommandCall } from '../command.js';

export const actCommand: Command = {
  name: 'act',
  aliases: ['action'],
  group: 'act',
  usage: '/act[.NAME] [ARGS]',
  summary: 'list the actions of this page, or run one; --help, --dry-run',
  where: ['tab', 'app'],
  run: act,
};

async function act(call: CommandCall): Promise<CommandResult> {
  const { line } = call;
  const text = textOf(call);
  const [, first = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/u.exec(text) ?? [];
  const named = line.suffix ?? (first.startsWith('-') ? '' : first);
  const loaded = await pageOf(call);
  if (!loaded.ok) return loaded;
  if (named === '') return describeActions(actionsOf(loaded.page).all);
  return await runNamed(call, loaded, named, line.suffix === undefined ? rest : text);
}

/** `/x` for an action of the page when no command is called so. Undefined when there is none. */
export async function actByName(call: CommandCall): Promise<CommandResult | undefined> {
  const { session, line } = call;
  if (session.topic.type !== 'tab' && session.topic.type !== 'app') return undefined;
  if (session.document === undefined && session.topic.type !== 'app') return undefined;
  const loaded = await pageOf(call);
  if (!loaded.ok || actionsOf(loaded.page).find(line.word) === undefined) return undefined;
  return await runNamed(call, loaded, line.word, textOf(call));
}

async function runNamed(
  call: CommandCall,
  loaded: LoadedPage,
  id: string,
  text: string,
): Promise<CommandResult> {
  const actions = actionsOf(loaded.page);
  const action = actions.find(id);
  if (action === undefined) {
    const names = actions.all.map((each) => each.id);
    return fail(
      'NOT_FOUND',
      `Action not found: "${id}"`,
      `Available: ${names.length === 0 ? '(none)' : names.join(', ')}`,
    );
  }
  return await runAction(await openScene(call, loaded), action, text);
}

/** Of an app, its document is loaded without its default action. */
async function pageOf(call: CommandCall): Promise<LoadedPage | Failure> {
  return await currentPage(call, fail('INVALID_TARGET', 'No document open. Use /open <uri> first.'));
}

/** Values may go on over many lines. */
export function textOf({ line }: CommandCall): string {
  return line.rest;
}
