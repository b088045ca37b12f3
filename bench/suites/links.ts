// links: a long output over links of several speeds, compressed where that is agreed on, beside the same without.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandLink, openCommandLink } from '../../src/client/rex/command-link.js';
import type { CompressionMode } from '../../src/client/rex/compression.js';
import { RexClient } from '../../src/client/rex/rex-client.js';
import type { Cleanup } from '../harness/cleanup.js';
import { childCpuMs, ownCpuMs } from '../harness/cpu-time.js';
import { slowLink } from '../harness/slow-link.js';
import type { Case, Contender, Suite } from '../harness/types.js';

const MIB = 1024 * 1024;
const OURS = 'compressed (auto)';

interface Speed {
  readonly name: string;
  readonly bytesPerS: number;
  /** What compressing must come to, as a multiple of the same link without; absent where it is not asked for. */
  readonly bound?: number;
}

const SPEEDS: readonly Speed[] = [
  { name: '1 MiB/s', bytesPerS: MIB, bound: 2 },
  { name: '10 MiB/s', bytesPerS: 10 * MIB, bound: 1.5 },
  { name: 'a pipe', bytesPerS: Number.POSITIVE_INFINITY },
];

export const linksSuite: Suite = {
  name: 'links',
  summary: 'MiB of program text by exec.start over links of several speeds, compressed vs plain',
  async prepare(context, cleanup) {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-bench-links-'));
    cleanup.use({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }) });
    writeText(folder, context.root);
    const cases: Case[] = [];
    for (const speed of SPEEDS.filter(({ name }) => name.includes(context.only))) {
      cases.push({
        name: speed.name,
        measure: 'rate',
        unit: 'MiB/s',
        scale: 1,
        contenders: [
          await startContender({ name: 'plain', mode: 'off', speed, folder, ...context }, cleanup),
          await startContender({ name: OURS, mode: 'auto', speed, folder, ...context }, cleanup),
        ],
        targets: speed.bound === undefined ? [] : [{ contender: OURS, bound: speed.bound }],
        wallOnly: true,
        maxRounds: 5,
      });
    }
    return cases;
  },
};

interface ContenderFacts {
  readonly name: string;
  readonly mode: CompressionMode;
  readonly speed: Speed;
  readonly folder: string;
  readonly root: string;
}

async function startContender(facts: ContenderFacts, cleanup: Cleanup): Promise<Contender> {
  const { name, mode, speed, folder, root } = facts;
  const argv = [
    join(root, 'dist/bin/rexd.js'),
    '--stdio',
    '--root',
    folder,
    '--config',
    join(folder, 'rexd.toml'),
  ];
  const link: CommandLink = await openCommandLink([process.execPath, ...argv]);
  const client = cleanup.use(
    await RexClient.open(slowLink(link, speed.bytesPerS), { clientName: 'bench', compression: mode }),
  );
  return {
    name,
    role: name === OURS ? 'ours' : 'limit',
    run: async (ops) => {
      const command = `while cat text; do :; done 2>/dev/null | head -c ${ops * MIB}`;
      const process = await client.start({
        shell: true,
        command,
        stdin: '',
        cwd: folder,
        timeout_ms: 300_000,
      });
      let bytes = 0;
      for await (const chunk of process) bytes += chunk.bytes.length;
      if (bytes !== ops * MIB) throw new Error(`${name}: ${bytes} bytes of ${ops * MIB}`);
    },
    cpuMs: () => ownCpuMs() + childCpuMs(link.pid),
  };
}

/** What people look at over such links: source text. Nothing in it comes again within what deflate remembers. */
function writeText(folder: string, root: string): void {
  const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const sources = names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src', name)));
  writeFileSync(join(folder, 'text'), Buffer.concat(sources));
  writeFileSync(join(folder, 'rexd.toml'), `[limits]\nmax_output_bytes = ${4096 * MIB - 1}\n`);
}
