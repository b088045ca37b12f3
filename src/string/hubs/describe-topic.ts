// What a list of topics says of one of them.

import type { RuntimeParts } from '../command.js';
import { pathOfUri } from '../files/agent-files.js';
import type { Session } from '../session/session.js';

/** `current: /path`, `(no doc)`, `cwd: /path` of a shell that runs, `(no shell)`. */
export function describeTopic(runtime: RuntimeParts, { topic, document }: Session): string {
  if (topic.type === 'bash') {
    const shell = runtime.shells.get(topic.name);
    return shell === undefined ? '(no shell)' : `cwd: ${shell.cwd}`;
  }
  return document === undefined ? '(no doc)' : `current: ${pathOfUri(document.uri) ?? document.uri}`;
}
