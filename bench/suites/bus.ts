// bus: messages through the built stdio-bus, beside a router that looks at nothing and any peer with the same command line.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../harness/bundle.js';
import type { Cleanup } from '../harness/cleanup.js';
import type { Case, Contender, Role, Suite } from '../harness/types.js';
import { checkAnswers, type LoadShape, medianRoundTripMs, runLoad } from './bus/load.js';
import { type Setting, Stand, type Wire } from './bus/stand.js';

const ECHO = new URL('../bundled/bus-echo.ts', import.meta.url);
const RAW_COPY = new URL('../bundled/raw-copy.ts', import.meta.url);
const CLIENTS = [1, 8, 100];
const WORKERS = [1, 4];
const SIZES = [160, 4096];
const IDLE_CLIENTS = 1000;
/** What ours must be beside each peer: messages a second, and messages for the same CPU (1 / 0.6). */
const RATE_BOUND = 1.6;
const CPU_BOUND = 1.67;
const COLLIDING_BOUND = 1;
const ROUND_TRIP_BOUND = 1.3;
/** A bus that has a thousand clients more to look after goes on at no less than this share of its pace. */
const IDLE_SHARE = 0.9;

interface Player {
  readonly role: Role;
  readonly stand: Stand;
}

export const busSuite: Suite = {
  name: 'bus',
  summary: 'messages through the built stdio-bus, vs a bare copy of bytes, by clients, workers and size',
  peerSpeaks: 'bus',
  async prepare({ root, peers }, cleanup) {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-bench-bus-'));
    cleanup.use({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }) });
    const worker = [process.execPath, await bundle(ECHO)];
    const player = (name: string, role: Role, argv: readonly string[], copies = false): Player => ({
      role,
      stand: cleanup.use(new Stand({ name, argv, folder: join(folder, name), worker, copies })),
    });
    const players = [
      player('raw copy', 'limit', [process.execPath, await bundle(RAW_COPY)], true),
      player('stdio-bus', 'ours', [process.execPath, join(root, 'dist/bin/stdio-bus.js')]),
      ...peers.map(({ name, argv }) => player(name, 'peer', argv)),
    ];
    return [
      ...pipelinedCases(players),
      collidingCase(players),
      ...roundTripCases(players),
      ...idleCases(players, cleanup),
    ];
  },
};

function pipelinedCases(players: readonly Player[]): Case[] {
  const cases: Case[] = [];
  for (const mode of ['unix', 'stdio'] as const)
    for (const bytes of SIZES)
      for (const workers of WORKERS)
        for (const clients of mode === 'stdio' ? [1] : CLIENTS)
          cases.push(
            loadCase(
              players,
              { mode, workers, bytes },
              { bytes, clients, colliding: false },
              {
                peerBound: RATE_BOUND,
                peerCpuBound: CPU_BOUND,
              },
            ),
          );
  return cases;
}

function collidingCase(players: readonly Player[]): Case {
  const shape = { bytes: 160, clients: 4, colliding: true };
  return loadCase(players, { mode: 'unix', workers: 4, bytes: 160 }, shape, { peerBound: COLLIDING_BOUND });
}

function loadCase(
  players: readonly Player[],
  setting: Setting,
  shape: LoadShape,
  bounds: Pick<Case, 'peerBound' | 'peerCpuBound'>,
): Case {
  const { mode, workers, bytes } = setting;
  const ids = shape.colliding ? ', colliding ids' : '';
  return {
    name: `${mode}, ${shape.clients} clients, ${workers} workers, ${bytes} B${ids}`,
    measure: 'rate',
    unit: 'messages per second',
    scale: 1,
    contenders: players.map((player) => contenderOf(player, setting, shape)),
    targets: [],
    ...bounds,
  };
}

function contenderOf({ role, stand }: Player, setting: Setting, shape: LoadShape): Contender {
  let checked: readonly Wire[] | undefined;
  return {
    name: stand.facts.name,
    role,
    cpuMs: () => stand.cpuMs(),
    run: async (ops) => {
      const wires = await stand.wires(setting, shape.clients);
      if (checked?.[0] !== wires[0]) {
        // A new bus: its answers are looked at once, and its start is not part of the figures.
        await checkAnswers(wires, shape, stand.facts.copies === true);
        checked = wires;
      }
      const ran = await runLoad(wires, shape, ops);
      if (ran.done < ops) await stand.stop();
      return ran;
    },
  };
}

function roundTripCases(players: readonly Player[]): Case[] {
  return (['unix', 'stdio'] as const).flatMap((mode) =>
    SIZES.map((bytes) => ({
      name: `${mode}, median round trip of ${bytes} B`,
      measure: 'time' as const,
      unit: 'µs',
      scale: 1000,
      contenders: players.map(({ role, stand }) => ({
        name: stand.facts.name,
        role,
        cpuMs: () => stand.cpuMs(),
        run: async (ops: number) => {
          const [wire] = await stand.wires({ mode, workers: 1, bytes }, 1);
          return (await medianRoundTripMs(wire as Wire, bytes, ops)) * ops;
        },
      })),
      targets: [],
      peerBound: ROUND_TRIP_BOUND,
    })),
  );
}

/** Ours with a thousand clients that say nothing, beside ours without: it may cost memory, and hardly any pace. */
function idleCases(players: readonly Player[], cleanup: Cleanup): Case[] {
  const ours = players.find(({ role }) => role === 'ours');
  if (ours === undefined) return [];
  const setting: Setting = { mode: 'unix', workers: 1, bytes: 160 };
  const shape = { bytes: 160, clients: 8, colliding: false };
  const stand = (name: string): Stand =>
    cleanup.use(
      new Stand({ ...ours.stand.facts, name, folder: `${ours.stand.facts.folder}-${name.length}` }),
    );
  const quiet = stand('stdio-bus alone');
  const crowded = stand('stdio-bus with 1000 idle clients');
  const crowd: Contender = {
    ...contenderOf({ role: 'ours', stand: crowded }, setting, shape),
    run: async (ops) => {
      const wires = await crowded.wires(setting, shape.clients + IDLE_CLIENTS);
      return await runLoad(wires.slice(0, shape.clients), shape, ops);
    },
    get pid() {
      return crowded.pid ?? 0;
    },
  };
  return [
    {
      name: `${IDLE_CLIENTS} idle clients beside 8 busy ones`,
      measure: 'rate',
      unit: 'messages per second',
      scale: 1,
      contenders: [contenderOf({ role: 'limit', stand: quiet }, setting, shape), crowd],
      targets: [{ contender: crowd.name, bound: IDLE_SHARE }],
    },
  ];
}
