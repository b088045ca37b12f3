// The executable `string`.

import { runString } from '../cli/string/program.js';

void runString(process.argv.slice(2));
