// rex target list, rex target show.

import { formatDestination } from '../../../client/rex/destination.js';
import { LOCAL, type Target, whereIs } from '../../../client/rex/target.js';
import type { RexContext } from '../context.js';
import { coloursFor, printable } from '../../colours.js';
import { chooseFrom } from './choose-target.js';
import { targetPlaces } from './places.js';
import { readTargets } from './targets-file.js';

export async function listTargets(context: RexContext): Promise<undefined> {
  const places = targetPlaces(process.env);
  const list = await readTargets(places.targets);
  // The list is shown whatever else is wrong: it is where one looks when something is.
  const inUse = await chooseFrom(list, places, { env: process.env, cwd: process.cwd() }).catch(
    () => undefined,
  );
  const rows = [
    { name: LOCAL, target: undefined, problem: undefined },
    ...Object.entries(list.targets).map(([name, target]) => ({ name, target, problem: undefined })),
    ...Object.entries(list.problems).map(([name, problem]) => ({ name, target: undefined, problem })),
  ];
  if (context.json) {
    await context.outJson({
      file: list.file,
      in_use: inUse?.alias ?? null,
      targets: rows.map(({ name, target, problem }) => ({
        name,
        in_use: name === inUse?.alias,
        ...(target === undefined ? (problem === undefined ? { transport: 'local' } : { problem }) : target),
      })),
    });
    return undefined;
  }
  const colours = coloursFor(process.stdout);
  const cells = rows.map(({ name, target, problem }) => [
    `${name === inUse?.alias ? '*' : ' '} ${printable(name)}`,
    ...(problem === undefined ? describe(target) : [`cannot be used: ${problem}`, '', '']),
  ]);
  const table = [['  NAME', 'HOST', 'ROOTS', 'ABOUT'], ...cells];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
  for (const [i, row] of table.entries()) {
    const line = row
      .map((cell, column) => cell.padEnd(Math.min(widths[column] ?? 0, 60)))
      .join('  ')
      .trimEnd();
    await context.out(`${i === 0 ? colours.dim(line) : line.startsWith('*') ? colours.bold(line) : line}\n`);
  }
  return undefined;
}

function describe(target: Target | undefined): string[] {
  if (target === undefined) return ['this machine', '', ''];
  const { workspaceRoots, description = '' } = target;
  if (target.transport !== 'ssh') return [whereIs(target), workspaceRoots.join(' '), printable(description)];
  const { user, port, host } = target;
  const address = { host, ...(user !== undefined && { user }), ...(port !== undefined && { port }) };
  return [formatDestination(address), workspaceRoots.join(' '), printable(description)];
}

export async function showTarget(context: RexContext, args: readonly string[]): Promise<undefined> {
  const [name = ''] = args;
  const { alias, target } = await context.choose(name);
  if (context.json) await context.outJson({ name: alias, ...(target ?? { transport: 'local' }) });
  else if (target === undefined) await context.out('local is this machine; it is always there\n');
  else {
    const rows = Object.entries({ name: alias, ...target }).map(([key, value]) => {
      const shown =
        typeof value === 'string' ? value : Array.isArray(value) ? value.join(' ') : JSON.stringify(value);
      return `${key.padEnd(15)} ${printable(shown)}\n`;
    });
    await context.out(rows.join(''));
  }
  return undefined;
}
