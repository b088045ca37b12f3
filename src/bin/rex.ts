// The executable `rex`.

import { runRex } from '../cli/rex/program.js';

void runRex(process.argv.slice(2));
