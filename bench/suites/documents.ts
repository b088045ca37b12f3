// documents: what opening a page costs, beside a bare read of its bytes; and an edit, beside a bare read and a durable write.

import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as OpenDocuments from '../bundled/open-documents.js';
import type { Opened } from '../bundled/open-documents.js';
import { bundle } from '../harness/bundle.js';
import { ownCpuMs } from '../harness/cpu-time.js';
import type { Case, Suite } from '../harness/types.js';

const OURS = 'stringd';
const WORDS = 'lorem ipsum dolor sit amet consectetur '.repeat(11);

interface Document {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly cmd: string;
  /** What was promised, in ms. */
  readonly boundMs: number;
}

const DOCUMENTS: readonly Document[] = [
  {
    name: '/open of 1 MB with 2,000 links',
    file: 'links.md',
    text: times(2000, (i) => `See [page ${i}](https://example.com/pages/${i}) for ${WORDS}\n\n`),
    cmd: '/open links.md',
    boundMs: 60,
  },
  {
    name: '/open --lines of 10 MB',
    file: 'large.log',
    text: times(200_000, (i) => `${i} a line of a log that has some fifty characters\n`),
    cmd: '/open large.log --lines 150000-150200',
    boundMs: 100,
  },
  {
    name: '/act of 1,000 actions',
    file: 'actions.md',
    text: times(
      1000,
      (i) =>
        `\`\`\`act.find${i}\nGET https://example.com/{q}\n  q: string (required) "words"\n  n: number = "5"\n\`\`\`\n\n`,
    ),
    cmd: '/act',
    boundMs: 20,
  },
];

export const documentsSuite: Suite = {
  name: 'documents',
  summary:
    'documents opened, listed and edited by the commands of stringd, vs a bare read (and a durable write) of the same bytes',
  async prepare(_context, cleanup) {
    const built = await bundle(new URL('../bundled/open-documents.ts', import.meta.url));
    const { openRuntime } = (await import(pathToFileURL(built).href)) as typeof OpenDocuments;
    const folder = mkdtempSync(join(tmpdir(), 'hawser-bench-documents-'));
    cleanup.use({ [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }) });
    const cases: Case[] = [];
    for (const { name, file, text, cmd, boundMs } of DOCUMENTS) {
      const home = join(folder, file.replace('.', '-'));
      mkdirSync(home);
      const path = join(home, file);
      writeFileSync(path, text);
      const runtime = cleanup.use(openRuntime(home, `${home}-data`));
      await runtime.run(`/open ${file} --lines 1`);
      let turn = 0;
      cases.push({
        name,
        measure: 'time',
        unit: 'ms',
        scale: 1,
        contenders: [
          {
            name: 'bare read',
            role: 'limit',
            run: (ops) => repeat(ops, () => readFileSync(path, 'utf8').length),
            cpuMs: ownCpuMs,
          },
          {
            name: OURS,
            role: 'ours',
            run: (ops) =>
              repeat(ops, async () => {
                utimesSync(path, 0, (turn += 1)); // another file, as far as anybody can tell: nothing is remembered of it
                return await runtime.run(cmd);
              }),
            cpuMs: ownCpuMs,
          },
        ],
        targets: [],
        figureBound: boundMs,
      });
    }
    cases.push(
      await editCase(join(folder, 'edits'), (home) => cleanup.use(openRuntime(home, `${home}-data`))),
    );
    return cases;
  },
};

const EDITED_LINES = 200_000;

/** One reading, one durable writing: and what there is to say of it, to undo it, and to know that nobody else was there. */
async function editCase(home: string, open: (home: string) => Opened): Promise<Case> {
  mkdirSync(home);
  const path = join(home, 'large.md');
  const lines = times(EDITED_LINES, (i) => `${i} a line of a text that has some fifty characters\n`);
  writeFileSync(path, `# Large\n\n<!-- #part -->\nold\n<!-- /part -->\n\n${lines}`);
  const runtime = open(home);
  await runtime.run('/edit large.md#part\nwarm');
  let turn = 0;
  return {
    name: '/edit of a block in 10 MB',
    measure: 'time',
    unit: 'ms',
    scale: 1,
    contenders: [
      {
        name: 'bare read, durable write',
        role: 'limit',
        run: (ops) => repeat(ops, () => rewrite(join(home, 'large.md'), join(home, 'bare.md'))),
        cpuMs: ownCpuMs,
      },
      {
        name: OURS,
        role: 'ours',
        run: (ops) => repeat(ops, () => runtime.run(`/edit large.md#part\nturn ${(turn += 1)}`)),
        cpuMs: ownCpuMs,
      },
    ],
    targets: [],
  };
}

/** As a careful program puts a file in place: beside it, on the disk, under its name, and that on the disk as well. */
function rewrite(from: string, to: string): number {
  const bytes = readFileSync(from);
  const fd = openSync(`${to}.new`, 'w');
  writeSync(fd, bytes);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(`${to}.new`, to);
  const folder = openSync(dirname(to), 'r');
  fsyncSync(folder);
  closeSync(folder);
  return bytes.length;
}

async function repeat(ops: number, work: () => number | Promise<number>): Promise<void> {
  for (let i = 0; i < ops; i++) if ((await work()) === 0) throw new Error('nothing was read');
}

function times(count: number, make: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => make(i)).join('');
}
