// The executable `rex`.

import { startRex } from '../cli/rex/start.js';

void startRex(process.argv.slice(2), () => import('../cli/rex/program.js'));
