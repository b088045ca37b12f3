// binary: rexd as a single binary, beside what Bun itself takes for the same, and any peer that speaks REXD.

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BinaryProcessor, binaryFor, compileByBun, whyNoBinary } from '../../scripts/build-binary.js';
import { BenchChild } from '../harness/child.js';
import type { Cleanup } from '../harness/cleanup.js';
import { treeCpuMs } from '../harness/cpu-time.js';
import { UnavailableError } from '../harness/errors.js';
import { LineClient } from '../harness/line-client.js';
import type { Case, Suite } from '../harness/types.js';
import { answers } from './cold-start.js';
import { Daemon } from './rexd/daemon.js';
import { inWorkspace, makeWorkspace } from './rexd/workspace.js';
import { openSession } from './rexd-session.js';

const OURS = 'rexd binary';
const LIMIT = 'Bun alone';
/** Ours to each peer, as issue 4 has it. */
const START_BOUND = 3;
const RATE_BOUND = 1;
const AT_ONCE = [1, 8];

export const binarySuite: Suite = {
  name: 'binary',
  summary:
    'the single binary of rexd: start to the first answer and /bin/true per second, vs a bare program of Bun',
  peerSpeaks: 'rexd',
  async prepare({ peers: asked }, cleanup) {
    const workspace = makeWorkspace(cleanup);
    const binary = [builtBinary(), '--stdio', '--config', workspace.config];
    const peers = asked.map(({ name, argv }) => ({ name, argv: inWorkspace(argv, workspace) }));
    const bare = compileLimit(cleanup);
    const daemons = [await Daemon.start(OURS, 'ours', binary, cleanup)];
    for (const { name, argv } of peers) daemons.push(await Daemon.start(name, 'peer', argv, cleanup));
    const driver = cleanup.use(await BenchChild.start(LIMIT, [bare]));
    const client = new LineClient(driver);
    await openSession(LIMIT, client);
    return [
      {
        name: 'cold start to the first answer',
        measure: 'time',
        unit: 'ms',
        scale: 1,
        contenders: [
          answers(LIMIT, 'limit', [bare]),
          answers(OURS, 'ours', binary),
          ...peers.map(({ name, argv }) => answers(name, 'peer', argv)),
        ],
        targets: [],
        peerBound: START_BOUND,
        wallOnly: true,
      },
      ...AT_ONCE.map((atOnce) => rateCase(atOnce, daemons, client, driver.pid)),
    ];
  },
};

/** Bun alone has no pipes, no protocol and nothing to remember. */
function rateCase(atOnce: number, daemons: readonly Daemon[], bare: LineClient, pid: number): Case {
  return {
    name: atOnce === 1 ? '/bin/true, one after the other' : `/bin/true, ${atOnce} at a time`,
    measure: 'rate',
    unit: 'per second',
    scale: 1,
    contenders: [
      {
        name: LIMIT,
        role: 'limit',
        run: async (ops) => void (await bare.ask(2, 'run', { ops, atOnce })),
        cpuMs: () => treeCpuMs(pid),
        pid,
      },
      ...daemons.map((daemon) =>
        daemon.contender(async (ops) => {
          const { wallMs, exits } = await daemon.commands({ argv: ['/bin/true'], times: ops, atOnce }, 0);
          return { wallMs, done: exits };
        }),
      ),
    ],
    targets: [],
    peerBound: RATE_BOUND,
    wallOnly: true,
  };
}

function builtBinary(): string {
  const file = binaryFor(process.arch as BinaryProcessor);
  if (!existsSync(file))
    throw new UnavailableError(`${file} is not built; run \`npm run build:rexd-binary\` first`);
  return file;
}

/** An empty program would only show how fast Bun ends. */
function compileLimit(cleanup: Cleanup): string {
  const processor = process.arch as BinaryProcessor;
  const problem = whyNoBinary(processor);
  if (problem !== undefined) throw new UnavailableError(problem);
  const folder = mkdtempSync(join(tmpdir(), 'hawser-bench-'));
  cleanup.use({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }) });
  const source = join(folder, 'limit.cjs');
  copyFileSync(fileURLToPath(new URL('../bundled/bun-limit.cjs', import.meta.url)), source);
  const out = join(folder, 'limit');
  compileByBun(source, out, processor);
  return out;
}
