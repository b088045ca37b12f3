// One suite from start to figures: prepare, measure each case, judge, close whatever was opened.

import { Cleanup } from './cleanup.js';
import { judgeCase } from './judge.js';
import { machineFacts } from './machine.js';
import { measureCase, type Plan } from './measure.js';
import type { CaseResult, Suite, SuiteContext, SuiteResult } from './types.js';

export async function runSuite(
  suite: Suite,
  context: SuiteContext,
  plan: Plan,
  report: (line: string) => void,
): Promise<SuiteResult> {
  await using cleanup = new Cleanup();
  const machine = machineFacts();
  report(`${suite.name}: preparing`);
  const cases: CaseResult[] = [];
  for (const each of await suite.prepare(context, cleanup)) {
    if (!each.name.includes(context.only)) continue;
    const samples = await measureCase(each, plan, (line) => report(`${suite.name}: ${line}`));
    cases.push(judgeCase(each, samples));
  }
  return {
    suite: suite.name,
    summary: suite.summary,
    measuredAt: new Date().toISOString(),
    machine,
    rounds: plan.rounds,
    cases,
  };
}
