// rex stat: what is at a path.

import { EXIT } from '../exit-codes.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { printable } from '../colours.js';
import { explainPath, PathsOnTargets } from './files/on-target.js';

export const statCommand: RexCommand = {
  examples: [
    ['rex stat web:/srv/app', 'kind, size, time and permissions'],
    ['rex stat web:a.txt local:a.txt --json', 'of several, one line of JSON each'],
  ],
  define: (command, run) => {
    command
      .argument('<paths...>', 'TARGET:PATH, or PATH on the chosen target')
      .addHelpText(
        'after',
        '\nA link is told of, not followed. The exit code is 1 when one of the paths is not there.',
      )
      .action(run(stat));
  },
};

async function stat(context: RexContext, paths: readonly string[]): Promise<number> {
  const targets = new PathsOnTargets(context);
  let code: number = EXIT.ok;
  for (const text of paths) {
    const place = await targets.find(text);
    const found = await place.client.request('fs.stat', { path: place.path }).catch((thrown: unknown) => {
      throw explainPath(place.shown, thrown);
    });
    if (!found.exists) code = EXIT.failed;
    if (context.json) await context.outJson({ target: place.choice.alias, ...found });
    else if (!found.exists) context.warn(`rex: ${place.shown}: no such file or directory`);
    else {
      const { type, size, mtime, mode, uid, gid, symlink_target: target } = found;
      const rows = [
        ['path', printable(found.path)],
        ['type', `${type ?? 'other'}${target === undefined ? '' : ` to ${printable(target)}`}`],
        ['size', String(size ?? 0)],
        ['modified', mtime === undefined ? '-' : new Date(mtime).toISOString()],
        ['mode', mode ?? '-'],
        ...(uid === undefined ? [] : [['owner', `${uid}:${gid ?? '-'}`]]),
      ];
      await context.out(`${rows.map(([name = '', value]) => `${name.padEnd(9)} ${value}`).join('\n')}\n`);
    }
  }
  return code;
}
