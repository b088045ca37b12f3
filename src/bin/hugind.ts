// The executable `hugind`.

import { runHugind } from '../cli/hugind/program.js';

void runHugind(process.argv.slice(2));
