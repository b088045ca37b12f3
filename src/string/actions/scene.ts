// Everything an action can see of the place where it is run: the page, the topic, the values set for its app.

import { join } from 'node:path';
import { isInside } from '../../host/files/is-inside.js';
import { readFile } from '../../host/files/read.js';
import type { CommandCall } from '../command.js';
import type { LoadedPage } from '../files/load-document.js';
import { type AppTopic, readEnv } from '../packages/env-store.js';
import type { Policy, Trust } from '../policy.js';
import { type Failure, fail } from '../result.js';
import type { RequiredVariable } from '../document/frontmatter.js';
import { actionsOf, folderOf, mayUseEnv, type PageActions, trustOf } from './action-page.js';
import { MAX_FIELD_FILE_BYTES, type Surroundings } from './read-inputs.js';

export type SceneCall = Omit<CommandCall, 'line'>;

export interface Scene {
  readonly call: SceneCall;
  readonly loaded: LoadedPage;
  readonly actions: PageActions;
  readonly trust: Trust;
  /** What its agent lets pages do. */
  readonly policy: Policy;
  /** Where commands run. */
  readonly folder: string;
  /** `$NAME` that was set for the app, or has a default. */
  readonly env: ReadonlyMap<string, string>;
  /** What the page says it needs. */
  readonly needed: readonly RequiredVariable[];
  /** `$HOME`, `$CURRENT_FILE`, … */
  readonly context: ReadonlyMap<string, string>;
}

/** `scopes`: those whose values may be used; the later ones first. Throws RefusedError when the policy cannot be read. */
export async function openScene(
  call: SceneCall,
  loaded: LoadedPage,
  scopes: readonly AppTopic[] = topicScope(call),
): Promise<Scene> {
  const { home } = call.runtime.agent;
  const { frontmatter } = loaded.page;
  const policy = await call.runtime.policy.read();
  const trust = trustOf(loaded, home);
  const needed = [...frontmatter.requires.map((name) => ({ name })), ...frontmatter.env];
  const env = new Map(
    frontmatter.env.flatMap(({ name, default: value }) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
  for (const scope of policy.allows(trust, 'variables') ? scopes : [])
    if (mayUseEnv(loaded, home, scope))
      for (const [name, value] of Object.entries(await readEnv(home, scope))) env.set(name, value);
  return {
    call,
    loaded,
    actions: actionsOf(loaded.page),
    trust,
    policy,
    folder: folderOf(loaded, home),
    env,
    needed,
    context: contextOf(call, loaded),
  };
}

export function topicScope({ session }: SceneCall): AppTopic[] {
  return session.topic.type === 'app' ? [session.topic] : [];
}

/** Of a page from the web, nothing of this machine is known. */
function contextOf({ runtime, session }: SceneCall, { uri, path, remote }: LoadedPage): Map<string, string> {
  const context = new Map([
    ['CURRENT_URI', uri],
    ['CURRENT_TARGET', session.topic.name],
    ['CURRENT_BLOCK', session.document?.block ?? ''],
  ]);
  if (remote) return context;
  context.set('HOME', runtime.agent.home);
  context.set('CWD', runtime.files.workingDirectory(session));
  context.set('CURRENT_FILE', path ?? '');
  return context;
}

export function surroundingsOf(scene: Scene): Surroundings {
  const { call, env } = scene;
  const { session } = call;
  return {
    variables: session.variables,
    shortcut: (name) => session.shortcuts.resolve(name)?.value,
    shortcutNames: () => session.shortcuts.names(),
    env: (name) => env.get(name),
    readFile: async (path) => {
      const data = await readAgentFile(scene, path);
      return Buffer.isBuffer(data) ? data.toString('utf8') : data;
    },
  };
}

/** A file of the agent's, for a field or for `{x|file}`. */
export async function readAgentFile({ call, trust, policy }: Scene, path: string): Promise<Buffer | Failure> {
  if (trust === 'remote')
    return fail('FILE_NOT_ALLOWED', `Pages from the web cannot be given files of this machine: ${path}`);
  if (!policy.allows(trust, 'files'))
    return fail('FILE_NOT_ALLOWED', `The policy of this agent gives no files to actions: ${path}`);
  const { runtime, session, signal } = call;
  try {
    const { files } = runtime;
    const resolved = files.resolve(session, path);
    if (trust === 'installed' && isInside(resolved, join(runtime.agent.home, 'apps')))
      return fail('FILE_NOT_ALLOWED', `What was set for apps is not given to a package: ${path}`);
    const { data } = await readFile(files.roots().files, resolved, {
      maxBytes: MAX_FIELD_FILE_BYTES,
      whole: true,
      signal,
    });
    return data;
  } catch (thrown) {
    const why = runtime.files.explain(thrown, path);
    const code = why.code === 'FILE_NOT_ALLOWED' ? why.code : 'INVALID_PAYLOAD';
    return fail(code, `cannot read ${path}`, why.message, ...(why.context ?? []));
  }
}
