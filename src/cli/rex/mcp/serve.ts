// MCP over our own standard streams until the client goes. stdout carries the protocol and nothing else.

import { VERSION } from '../../../base/version.js';
import { connectTarget } from '../../../client/rex/connect-target.js';
import type { RexClient } from '../../../client/rex/rex-client.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import { LOCAL } from '../../../client/rex/target.js';
import { RexTools } from '../../../client/rex/tools.js';
import { serveLines } from '../../../mcp/serve-lines.js';
import { processLink } from '../../../wire/transport/stdio.js';
import { chooseTarget } from '../choose-target.js';
import type { RexContext } from '../context.js';
import { localRexdCommand } from '../local-rexd.js';
import { targetPlaces } from '../target/places.js';
import { readTargets } from '../target/targets-file.js';
import { CurrentTarget } from './current-target.js';
import { targetPrompt } from './target-prompt.js';

const INSTRUCTIONS =
  'These tools work on the current target: a machine that the user has chosen outside of this conversation. Relative paths begin in its workspace folder. Prefer read, edit, search and glob to shell commands for files.';

/**
 * How long commands go on without us when the network fails, and how long we try to come back to them. Not longer: when it is
 * not the network but we who have died, nothing shall be left running.
 */
export const RESUME_WINDOW_MS = 4000;

export async function serveMcp(context: RexContext, windowMs = RESUME_WINDOW_MS): Promise<void> {
  await using current = new CurrentTarget({
    // Named in the session goes before --target, which goes before all that is written down.
    choose: (name) => chooseTarget(name ?? context.targetName, process.env),
    connect: (choice) => connect(context, choice, windowMs),
    folderOn: (choice) => context.folderOn(choice),
  });
  const tools = new RexTools((signal) => current.take(signal));
  await using connection = await serveLines(processLink(), {
    name: 'rex',
    title: 'rex',
    version: VERSION,
    instructions: INSTRUCTIONS,
    tools: tools.table,
    prompts: [targetPrompt(current, knownTargets)],
    onError: (error) => context.say(`rex mcp: ${error.message}`),
  });
  const stop = (): void => void connection.close();
  context.signal.addEventListener('abort', stop, { once: true });
  if (context.signal.aborted) stop();
  await connection.closed;
  context.signal.throwIfAborted();
}

/** A connection of our own, which lives as long as we need it: there is nothing to keep for the next command. */
async function connect(context: RexContext, choice: TargetChoice, windowMs: number): Promise<RexClient> {
  return await connectTarget(choice, {
    clientName: 'rex mcp',
    clientVersion: VERSION,
    localCommand: localRexdCommand(process.env),
    shareConnection: context.keep,
    signal: context.signal,
    // On this machine there is no network between us: who is lost has died.
    reconnect: choice.target !== undefined && { windowMs, signal: context.signal },
  });
}

async function knownTargets(): Promise<string[]> {
  const { targets } = await readTargets(targetPlaces(process.env).targets);
  return [LOCAL, ...Object.keys(targets)];
}
