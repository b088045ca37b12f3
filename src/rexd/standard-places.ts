// Where rexd's configuration may lie. By itself: rex wants to know before anything else is loaded.

import { join } from 'node:path';

/** Where a configuration is looked for when none is named: the user's, then the machine's. */
export function standardPlaces(env: NodeJS.ProcessEnv): string[] {
  // As the XDG specification has it: a value that is empty or relative is no value. A checkout must not bring its own.
  const given = env['XDG_CONFIG_HOME'];
  const home =
    given?.startsWith('/') === true
      ? given
      : join(env['HOME'] ?? process.getBuiltinModule('node:os').homedir(), '.config');
  return [join(home, 'rexd/config.toml'), '/etc/rexd/config.toml'];
}
