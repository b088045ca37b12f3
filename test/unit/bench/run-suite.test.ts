import { describe, expect, test } from 'vitest';
import { Cleanup } from '../../../bench/harness/cleanup.js';
import { measureCase } from '../../../bench/harness/measure.js';
import { openProgress } from '../../../bench/harness/progress.js';
import { runSuite } from '../../../bench/harness/run-suite.js';
import type { Case, Contender, Role } from '../../../bench/harness/types.js';

const PLAN = { rounds: 4, warmups: 2, sampleMs: 8 };
const CONTEXT = { root: '.', peers: [], large: false, only: '' };

/** Pretends that every operation takes `msPerOp`; `turns` records who was asked for how much. */
function pretender(
  name: string,
  role: Role,
  msPerOp: number,
  turns: { name: string; ops: number }[],
): Contender {
  let spentMs = 0;
  return {
    name,
    role,
    run(ops) {
      turns.push({ name, ops });
      spentMs += ops * msPerOp;
      return ops * msPerOp;
    },
    cpuMs: () => spentMs,
  };
}

function makeCase(turns: { name: string; ops: number }[]): Case {
  return {
    name: 'pretended',
    measure: 'rate',
    unit: 'per second',
    scale: 1,
    contenders: [pretender('a', 'limit', 1, turns), pretender('b', 'ours', 2, turns)],
    targets: [{ contender: 'b', bound: 0.5 }],
  };
}

describe('measureCase', () => {
  test('fits the work to the time a turn should last, then takes turns in changing order', async () => {
    const turns: { name: string; ops: number }[] = [];
    const samples = await measureCase(makeCase(turns), PLAN, () => {});
    const measured = turns.slice(-2 * PLAN.rounds);
    expect(measured.map((turn) => turn.name).join('')).toBe('abbabaab');
    expect(new Set(measured.map((turn) => `${turn.name}${turn.ops}`))).toEqual(new Set(['a8', 'b4']));
    for (const taken of samples.values()) expect(taken).toHaveLength(PLAN.rounds);
  });

  test('work longer than a turn is done once', async () => {
    const turns: { name: string; ops: number }[] = [];
    const slow = pretender('slow', 'limit', 1000, turns);
    await measureCase({ name: 'slow', contenders: [slow] }, { rounds: 1, warmups: 0, sampleMs: 1 }, () => {});
    expect(turns.every((turn) => turn.ops === 1)).toBe(true);
  });

  test('real time is measured where a contender does not say', async () => {
    const waiting: Contender = {
      name: 'waits',
      role: 'limit',
      run: (ops) => new Promise<void>((resolve) => setTimeout(resolve, ops * 5)),
      cpuMs: () => 0,
    };
    const samples = await measureCase({ name: 'w', contenders: [waiting] }, { ...PLAN, rounds: 1 }, () => {});
    const [sample] = samples.get(waiting) ?? [];
    expect((sample?.wallMs ?? 0) / (sample?.ops ?? 1)).toBeGreaterThan(3);
  });
});

describe('runSuite', () => {
  test('gives figures, verdicts and facts of the machine, without telling which machine', async () => {
    const suite = { name: 's', summary: 'a suite', prepare: () => Promise.resolve([makeCase([])]) };
    const result = await runSuite(suite, CONTEXT, PLAN, () => {});
    expect(result.cases[0]?.verdicts).toMatchObject([{ contender: 'b', got: 0.5, pass: true }]);
    expect(Object.keys(result.machine)).toEqual([
      'cpus',
      'memoryGiB',
      'platform',
      'arch',
      'node',
      'loadBefore',
    ]);
    expect(JSON.stringify(result)).not.toContain(process.cwd());
  });

  test('closes what was opened, newest first, also when a contender fails', async () => {
    const closed: string[] = [];
    const opened = (name: string): AsyncDisposable => ({
      [Symbol.asyncDispose]() {
        closed.push(name);
        return Promise.resolve();
      },
    });
    const suite = {
      name: 's',
      summary: '',
      prepare(_context: unknown, cleanup: Cleanup) {
        cleanup.use(opened('first'));
        cleanup.use(opened('second'));
        return Promise.reject(new Error('no contender'));
      },
    };
    await expect(runSuite(suite, CONTEXT, PLAN, () => {})).rejects.toThrow('no contender');
    expect(closed).toEqual(['second', 'first']);
  });
});

test('one resource that cannot be closed does not keep the others open', async () => {
  const closed: string[] = [];
  const cleanup = new Cleanup();
  cleanup.use({ [Symbol.asyncDispose]: () => Promise.resolve(void closed.push('kept')) });
  cleanup.use({ [Symbol.asyncDispose]: () => Promise.reject(new Error('stuck')) });
  await expect(cleanup.close()).rejects.toThrow('could not close everything');
  expect(closed).toEqual(['kept']);
});

describe('progress', () => {
  const record = (isTTY: boolean) => {
    const written: string[] = [];
    return { written, progress: openProgress({ isTTY, write: (text) => written.push(text) }) };
  };

  test('a terminal sees one line that changes', () => {
    const { written, progress } = record(true);
    progress.report('s: c: round 1 of 2');
    progress.clear();
    expect(written).toEqual(['\r\u001B[Ks: c: round 1 of 2', '\r\u001B[K']);
  });

  test('a log sees one line per step, not per round', () => {
    const { written, progress } = record(false);
    for (const line of ['s: preparing', 's: c: warming up', 's: c: round 1 of 2', 's: c: round 2 of 2']) {
      progress.report(line);
    }
    progress.clear();
    expect(written).toEqual(['s: preparing\n', 's: c\n']);
  });
});
