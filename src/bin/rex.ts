// The executable `rex`.

import { startRex } from '../cli/rex/start.js';

void startRex(process.argv.slice(2));
