// Messages with something wrong in them, 100,000 in a full run: the server stays alive, answers each, and stays within its bounds.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { ERROR_CODES } from '../../src/rexd/protocol/errors.js';
import { EVENTS, METHODS } from '../../src/rexd/protocol.js';
import { MAX_JSON_DEPTH } from '../../src/wire/jsonrpc/json-size.js';
import { MARK } from '../helpers/orphan-census.js';
import { descendants, markedWith } from '../helpers/proc.js';
import { bin, Program } from '../helpers/program.js';
import { until } from '../helpers/wait.js';
import { runs } from '../helpers/runs.js';
import { AnswerBook, type GivenAnswer, isAnswer } from './answer-book.js';
import { mutantOf, spell } from './mutants.js';
import type { FieldExamples } from './schema-example.js';
import { removeFolder } from '../helpers/remove-folder.js';

const MESSAGES = runs(100_000);
/** The same messages in every run, so that a failure is somebody's change; HAWSER_SEED=n sends others. */
const SEED = 20_261_116;
/** Messages to one session. */
const CHUNK = 500;
const PROBE_EVERY = 50;
const MAX_RSS_KIB = 190 * 1024;
/** The same after lines as long as they may be: the bytes, the text, the value, and what was not yet cleared away. */
const MAX_RSS_AFTER_HUGE_KIB = 256 * 1024;
const PROBE_MS = 120_000;
/** Half a minute on a machine that has nothing else to do; many times that on one that has. */
const TEST_MS = 600_000;
/** Those of JSON-RPC but -32603, which is for what we did not think of; those of REXD; and a cancelled request. */
const KNOWN_CODES = new Set<number>([-32700, -32600, -32601, -32602, -32800, ...Object.values(ERROR_CODES)]);

/** As long as a line may be, and longer: text, half of it in two bytes a character; numbers; brackets; nothing at all. */
const LONGEST = 16 * 1024 * 1024;
const HUGE_LINES = [
  () => Buffer.alloc(LONGEST * 2, 'x'),
  () => Buffer.from(`"${'é'.repeat(LONGEST / 2 - 1)}"`),
  () => Buffer.from(`[${'1,'.repeat(499_999)}1]`),
  () => Buffer.from(`[${'{},'.repeat(LONGEST / 3 - 10)}1]`),
  () => Buffer.from(`{"jsonrpc":"2.0","id":"wide","method":"${'m'.repeat(LONGEST / 2)}"}`),
  () => Buffer.from('['.repeat(LONGEST / 2) + ']'.repeat(LONGEST / 2)),
];

const methods = Object.values(METHODS);
const methodOf = new Map<string, (typeof methods)[number]>(methods.map((method) => [method.name, method]));
const eventOf = new Map<string, (typeof EVENTS)[keyof typeof EVENTS]>(
  Object.values(EVENTS).map((event) => [event.name, event]),
);

const inside = fc.constantFrom('a', 'b', 'c', 'sub', 'sub/c', '@root@/a', '.');
const outside = fc.constantFrom('..', 'link', 'link/x', '@outside@/x', '@outside@/secret', '/');
const path = fc.oneof({ weight: 4, arbitrary: inside }, { weight: 1, arbitrary: outside });
const rarely = fc.constantFrom(false, false, false, false, true);
const fields: FieldExamples = {
  session_id: fc.constant('@session@'),
  process_id: fc.constant('@process@'),
  pty_id: fc.constant('@pty@'),
  path,
  from: path,
  to: path,
  cwd: fc.constantFrom('.', 'sub', '@root@', '@outside@', 'a'),
  pattern: fc.constantFrom('*', '**', '{a,b}*', '[a-z]', '@root@/**/c', '../*'),
  argv: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(['rm', '-r', '/'], ['./a'], ['']) },
    { weight: 1, arbitrary: fc.constantFrom(['/bin/true'], ['echo', 'x'], ['cat'], ['cat', 'a']) },
  ),
  shell: rarely,
  detach: rarely,
  timeout_ms: fc.integer({ min: 0, max: 100 }),
  patch_text: fc.constantFrom(
    '*** Begin Patch\n*** Add File: p\n+x\n*** End Patch',
    '*** Begin Patch\n*** Update File: p\n@@\n-x\n+y\n*** End Patch',
    '*** Begin Patch\n*** Delete File: ../outside/secret\n*** End Patch',
  ),
};

/** The session they all use is closed now and then only, or the rest would all be told the same. */
const fieldsOf = (method: string): FieldExamples =>
  method === METHODS.SessionClose.name
    ? { session_id: fc.constantFrom(...Array.from({ length: 60 }, () => '@spare@'), '@session@') }
    : fields;

test(
  `${MESSAGES} mutated messages leave the server alive, bounded and exact`,
  async (context) => {
    const seed = Number(process.env['HAWSER_SEED'] ?? SEED);
    await context.annotate(`HAWSER_SEED=${seed}`);
    using grounds = makeGrounds();
    const mark = `${process.env[MARK] ?? ''}/mutants-${seed}`;
    await using server = new MutantServer(grounds, mark);
    const before = snapshot(grounds.outside);
    const mutant = mutantOf(methods, fieldsOf);

    for (let sent = 0; sent < MESSAGES; sent += CHUNK) {
      await server.openSession();
      for (const [i, each] of fc.sample(mutant, { numRuns: CHUNK, seed: seed + sent }).entries()) {
        server.send(spell(each, server.names));
        if (i % PROBE_EVERY === 0) await server.probe();
      }
      expect(server.faults, `seed ${seed}, after ${sent} messages`).toEqual([]);
    }
    const peakKib = server.peakRssKib();
    expect(peakKib).toBeLessThan(MAX_RSS_KIB);
    for (const line of HUGE_LINES) {
      server.send(line());
      await server.probe();
    }

    await until(() => server.book.isEven, 'the last answers', PROBE_MS);
    expect(server.book.unanswered(), `seed ${seed}`).toEqual([]);
    const afterHugeKib = server.peakRssKib();
    expect(afterHugeKib).toBeLessThan(MAX_RSS_AFTER_HUGE_KIB);
    await context.annotate(
      `${server.answers} answers, ${server.events} events, peak RSS ${peakKib} KiB, after huge lines ${afterHugeKib} KiB`,
    );
    server.endInput();
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.faults).toEqual([]);
    expect(snapshot(grounds.outside)).toEqual(before);
    await until(() => readdirSync(grounds.temporary).length === 0, 'the temporary files to be gone');
    await until(() => markedWith(MARK, mark).length === 0, 'every process of the server to be gone');
    expect(descendants(server.child.pid ?? 0)).toEqual([]);
  },
  TEST_MS,
);

interface Grounds extends Disposable {
  readonly root: string;
  readonly outside: string;
  readonly temporary: string;
  readonly config: string;
}

function makeGrounds(): Grounds {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-mutants-')));
  const [root, outside, temporary] = [join(base, 'root'), join(base, 'outside'), join(base, 'tmp')];
  for (const folder of [join(root, 'sub'), outside, temporary]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, 'a'), 'one\n');
  writeFileSync(join(outside, 'secret'), 'not yours\n');
  symlinkSync(outside, join(root, 'link'));
  const config = join(base, 'config.toml');
  writeFileSync(
    config,
    [
      '[server]\nlog_level = "error"',
      '[limits]\ndefault_timeout_ms = 300\nhard_timeout_ms = 500\nmax_output_bytes = 65536',
      'max_processes_per_session = 4\nmax_concurrent_sessions = 16',
      '[security]\nallow_shell = false\nallow_commands = ["/bin/true", "echo", "cat"]',
      `[[security.allowed_roots]]\npath = ${JSON.stringify(root)}`,
      `[audit]\nenabled = true\npath = ${JSON.stringify(join(base, 'audit.log'))}`,
    ].join('\n'),
  );
  return {
    root,
    outside,
    temporary,
    config,
    [Symbol.dispose]: () => removeFolder(base),
  };
}

/** A server and its one client, who says odd things and keeps the books. */
class MutantServer extends Program {
  readonly book = new AnswerBook(MAX_JSON_DEPTH);
  readonly faults = this.book.faults;
  readonly names: Map<string, string>;
  answers = 0;
  events = 0;
  readonly #probes = new Map<string, (answer: GivenAnswer) => void>();
  #probeCount = 0;
  readonly #sessions: string[] = [];

  constructor(grounds: Grounds, mark: string) {
    super([process.execPath, bin('rexd'), '--stdio', '--config', grounds.config], {
      cwd: grounds.root,
      env: { [MARK]: mark, TMPDIR: grounds.temporary, HOME: grounds.root },
    });
    this.names = new Map([
      ['@root@', grounds.root],
      ['@outside@', grounds.outside],
      ['@session@', 's_none'],
      ['@spare@', 's_none'],
      ['@process@', 'p_none'],
      ['@pty@', 't_none'],
    ]);
    void this.#readAll().catch((thrown: unknown) => this.faults.push(String(thrown)));
  }

  send(line: Buffer): void {
    for (let at = 0; at <= line.length; ) {
      const newline = line.indexOf(10, at);
      const end = newline === -1 ? line.length : newline;
      this.book.sent(line.subarray(at, end));
      at = end + 1;
    }
    this.write(Buffer.concat([line, Buffer.of(10)]));
  }

  /** A session for the next mutants; those they have opened themselves make room for it. */
  async openSession(): Promise<void> {
    for (const id of this.#sessions.splice(0)) await this.#call('session.close', { session_id: id });
    const { result } = await this.#call('session.open', { client_name: 'mutants' });
    const { session_id } = result as { session_id: string };
    this.#sessions.push(session_id);
    this.names.set('@session@', session_id);
    for (const method of ['exec.start', 'pty.open'])
      this.#note((await this.#call(method, { session_id, argv: ['cat'] })).result as Record<string, unknown>);
  }

  /** Answered in time, and by a server that still knows what it is doing. */
  async probe(): Promise<void> {
    const { error } = await this.#call('session.info', { session_id: 's_probe' });
    expect(error?.code).toBe(-32602);
  }

  peakRssKib(): number {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))?.[1]);
  }

  async #call(method: string, params: object): Promise<GivenAnswer> {
    const id = `probe-${++this.#probeCount}`;
    let timer: NodeJS.Timeout | undefined;
    const answered = new Promise<GivenAnswer>((resolve, reject) => {
      this.#probes.set(id, resolve);
      timer = setTimeout(() => reject(new Error(`${method} is not answered; ${this.stderr}`)), PROBE_MS);
    });
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    try {
      return await answered;
    } finally {
      clearTimeout(timer);
      this.#probes.delete(id);
    }
  }

  async #readAll(): Promise<void> {
    for (let line = await this.line(600_000); line !== undefined; line = await this.line(600_000)) {
      const value = JSON.parse(line) as unknown;
      for (const message of Array.isArray(value) ? (value as unknown[]) : [value]) this.#take(message, line);
    }
  }

  #take(message: unknown, line: string): void {
    if (isAnswer(message)) this.#takeAnswer(message);
    else this.#takeEvent(message as { method?: unknown; params?: unknown }, line);
  }

  #takeAnswer(answer: GivenAnswer): void {
    const probe = this.#probes.get(String(answer.id));
    if (probe !== undefined) return probe(answer);
    this.answers += 1;
    const method = methodOf.get(this.book.came(answer) ?? '');
    if (answer.error !== undefined && !KNOWN_CODES.has(answer.error.code))
      this.faults.push(
        `${method?.name} answered ${JSON.stringify(answer.error)}; ${this.stderr.slice(-1500)}`,
      );
    if (answer.error !== undefined) return;
    this.#note(answer.result as Record<string, unknown>);
    if (method !== undefined && !z.safeParse(method.result, answer.result).success)
      this.faults.push(`${method.name} answered ${JSON.stringify(answer.result).slice(0, 300)}`);
  }

  /** What the next mutants may name. */
  #note({ session_id, protocol, process_id, pty_id }: Record<string, unknown>): void {
    if (typeof session_id === 'string' && protocol !== undefined) {
      this.#sessions.push(session_id);
      this.names.set('@spare@', session_id);
    }
    if (typeof process_id === 'string') this.names.set('@process@', process_id);
    if (typeof pty_id === 'string') this.names.set('@pty@', pty_id);
  }

  #takeEvent(message: { method?: unknown; params?: unknown }, line: string): void {
    this.events += 1;
    const event = eventOf.get(String(message.method));
    if (event === undefined || !z.safeParse(event.params, message.params).success)
      this.faults.push(`neither an answer nor an event: ${line.slice(0, 300)}`);
  }
}

/** Every file below, what it holds and when it was last touched. */
function snapshot(folder: string): unknown[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { mode, uid, mtimeMs, ctimeMs, ino } = statSync(join(folder, name));
    return [name, mode, uid, mtimeMs, ctimeMs, ino, readFileSync(join(folder, name), 'utf8')];
  });
}
