// The executable `stringd`.

import { runStringd } from '../cli/stringd.js';

void runStringd(process.argv.slice(2));
