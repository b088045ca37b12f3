// Runs around every test: what a test opened it must have closed.

import { afterEach, beforeEach, expect } from 'vitest';
import { descendants } from './proc.js';
import { until } from './wait.js';

/** Handles that keep a service alive. Timers are left out: the runner's own come and go. */
const WATCHED = new Set([
  'ProcessWrap',
  'TCPServerWrap',
  'PipeServerWrap',
  'TCPSocketWrap',
  'PipeWrap',
  'FSReqPromise',
  'TTYWrap',
]);
/** A handle closed by the test is gone only some ticks later; a leak stays for good. */
const SETTLE_MS = 30_000;

/** One list and one listener per process, which may run many test files one after the other. */
const warnings = ((globalThis as { hawserWarnings?: string[] }).hawserWarnings ??= collectWarnings());

let before: Map<string, number>;
let childrenBefore: Set<number>;

beforeEach(() => {
  before = openHandles();
  childrenBefore = new Set(descendants(process.pid).map((child) => child.pid));
});

afterEach(async ({ task }) => {
  // What is seen once to be gone is gone: a later look could only meet somebody else's.
  const left = await until(() => leaks().length === 0, 'it to be closed', SETTLE_MS).then(
    () => [],
    () => leaks(),
  );
  expect.soft(left, `${task.name} left something open`).toEqual([]);
  expect.soft(warnings.splice(0), `${task.name} raised warnings`).toEqual([]);
});

function leaks(): string[] {
  const handles = [...openHandles()]
    .filter(([kind, count]) => count > (before.get(kind) ?? 0))
    .map(([kind, count]) => `${count - (before.get(kind) ?? 0)} × ${kind}`);
  const children = descendants(process.pid)
    .filter((child) => !childrenBefore.has(child.pid))
    .map((child) => `process ${child.pid}: ${child.command}`);
  return [...handles, ...children];
}

function openHandles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (WATCHED.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

function collectWarnings(): string[] {
  const list: string[] = [];
  process.on('warning', (warning) => list.push(`${warning.name}: ${warning.message}`));
  return list;
}
