// The executable `stdio-bus`, also known as `stdio_bus`.

import { runBus } from '../cli/bus/main.js';

void runBus(process.argv.slice(2));
