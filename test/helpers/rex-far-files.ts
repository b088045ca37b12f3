// rex and two targets behind a stand-in for ssh: `web` on a folder, `other` on a folder in it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bin } from './program.js';
import { type RexBySsh, rexBySsh } from './rex-by-ssh.js';
import { removeFolder } from './remove-folder.js';

/** Passes on so many bytes, and the rest when the file GATE is there. */
const HOLD = `
const { existsSync } = require("node:fs");
const { stdin, stdout } = process;
let left = 8_000_000;
const look = () => {
  if (!existsSync(process.env.GATE)) return;
  clearInterval(timer);
  left = Infinity;
  stdin.resume();
};
let timer;
stdout.on("error", () => process.exit());
stdin.on("data", (bytes) => {
  stdout.write(bytes);
  left -= bytes.length;
  if (left > 0 || timer !== undefined) return;
  stdin.pause();
  timer = setInterval(look, 20);
});
`;
/** Runs its last word here: all that ssh is to rex. With HELD only so much passes up or down until the file GATE is there. */
const SSH = `#!/bin/sh
for last; do :; done
hold() { '${process.execPath}' -e '${HOLD}'; }
case "$HELD" in
  up) hold | /bin/sh -c "$last" ;;
  down) /bin/sh -c "$last" | hold ;;
  *) exec /bin/sh -c "$last" ;;
esac
`;

export function rexFarFiles(): RexBySsh {
  const home = rexBySsh(SSH);
  const { folder, far } = home;
  mkdirSync(join(folder, 'config/rexd'), { recursive: true });
  const command = `${process.execPath} ${bin('rexd')} --stdio --root ${far}`;
  const web = { transport: 'ssh', host: 'web', command, workspaceRoots: [far], defaultCwd: far };
  const inside = join(far, 'other');
  const other = { ...web, host: 'other', workspaceRoots: [inside], defaultCwd: inside };
  writeFileSync(
    join(folder, 'config/rexd/targets.json'),
    JSON.stringify({ version: 1, targets: { web, other } }),
  );
  return home;
}

/** Both sides empty again. */
export function clear({ far, here }: RexBySsh): void {
  removeFolder(far);
  removeFolder(here);
  mkdirSync(join(far, 'other'), { recursive: true });
  mkdirSync(here);
}

/** Of every value, so no text. */
export const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7 + (i >> 8)) % 256));
