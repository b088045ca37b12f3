// Every suite, in the order in which a run of all of them goes.

import type { Suite } from '../harness/types.js';
import { binarySuite } from './binary.js';
import { busSuite } from './bus.js';
import { coldStartSuite } from './cold-start.js';
import { documentsSuite } from './documents.js';
import { jsonrpcSuite } from './jsonrpc.js';
import { linksSuite } from './links.js';
import { rexSuite } from './rex.js';
import { rexdSuite } from './rexd.js';
import { spawnSuite } from './spawn.js';
import { splitterSuite } from './splitter.js';
import { stringdSuite } from './stringd.js';

export const SUITES: readonly Suite[] = [
  splitterSuite,
  jsonrpcSuite,
  spawnSuite,
  rexdSuite,
  binarySuite,
  rexSuite,
  busSuite,
  stringdSuite,
  documentsSuite,
  linksSuite,
  coldStartSuite,
];
