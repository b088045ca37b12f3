// What the disk allows: one durable commit for each event, one after the other, with nothing around them.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from '../../harness/cleanup.js';
import { ownCpuMs } from '../../harness/cpu-time.js';
import type { Contender } from '../../harness/types.js';
import { openDatabase } from '../../../src/host/store/open-database.js';

/** In this process: SQLite has no server. */
export async function bareCommits(folder: string, text: string, cleanup: Cleanup): Promise<Contender> {
  mkdirSync(folder, { recursive: true });
  const database = cleanup.use(
    await openDatabase({
      path: join(folder, 'bare.db'),
      migrations: ['CREATE TABLE events (seq INTEGER PRIMARY KEY, text BLOB NOT NULL)'],
    }),
  );
  const bytes = Buffer.from(text);
  return {
    name: 'bare SQLite commits',
    role: 'limit',
    cpuMs: ownCpuMs,
    run: (ops) => {
      for (let i = 0; i < ops; i++) database.run('INSERT INTO events (text) VALUES (?)', bytes);
    },
  };
}
