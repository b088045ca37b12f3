// /info: what is open in this topic, and what it remembers.

import { VERSION } from '../../base/version.js';
import { succeed } from '../result.js';
import type { Command } from './command.js';

const LABEL_CHARS = 11;

export const infoCommand: Command = {
  name: 'info',
  group: 'inspect',
  usage: '/info',
  summary: 'what is open in this topic, and what it remembers',
  run: ({ session }) => {
    const rows: [string, string][] = [['string', `v${VERSION}`]];
    if (session.document === undefined) rows.push(['cwd', '~/'], ['file', '(none open)']);
    const vars = [...session.variables].map(([name, value]) => `{${name}}="${value}"`);
    if (vars.length > 0) rows.push(['vars', vars.join(', ')]);
    return succeed(
      'Session info',
      rows.map(([label, value]) => `${`${label}:`.padEnd(LABEL_CHARS)}${value}`).join('\n'),
    );
  },
};
