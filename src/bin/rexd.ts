// The executable `rexd`.

import { runRexd } from '../cli/rexd.js';

void runRexd(process.argv.slice(2));
