// rex shell on a real terminal.

import { afterAll, expect, test } from 'vitest';
import { openPty } from '../../src/host/pty/open-pty.js';
import { bin } from '../helpers/program.js';
import { rexHome } from '../helpers/rex.js';

const home = rexHome();
afterAll(() => home[Symbol.asyncDispose]());
