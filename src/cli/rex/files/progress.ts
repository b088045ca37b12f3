// A line that tells how far a copy is: on a terminal, and nowhere else.

import type { Colours } from '../../colours.js';
import { printable } from '../../colours.js';

const REDRAW_MS = 100;
const BAR_CHARS = 24;
/** The rate is that of the last seconds, not of the whole: a slow start does not weigh on it for ever. */
const WINDOW_MS = 5000;

export interface ProgressOptions {
  readonly totalBytes: number;
  readonly totalFiles: number;
  readonly stream: NodeJS.WriteStream;
  readonly colours: Colours;
  readonly now?: () => number;
}

export class Progress implements Disposable {
  readonly #options: ProgressOptions;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;
  #files = 0;
  #name = '';
  #samples: { at: number; moved: number }[] = [];
  #moved = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#samples.push({ at: this.#now(), moved: 0 });
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS).unref();
  }

  begin(name: string): void {
    this.#name = name;
  }

  add(bytes: number, resumed: boolean): void {
    this.#bytes += bytes;
    if (!resumed) this.#moved += bytes;
  }

  finishFile(): void {
    this.#files += 1;
  }

  /** As it stands now, in at most `columns` characters. */
  line(columns: number): string {
    const { totalBytes, totalFiles } = this.#options;
    const share = totalBytes === 0 ? 1 : Math.min(1, this.#bytes / totalBytes);
    const full = Math.round(share * BAR_CHARS);
    const rate = this.#rate();
    const left = rate > 0 ? (totalBytes - this.#bytes) / rate : undefined;
    const parts = [
      `${String(Math.floor(share * 100)).padStart(3)}% ${'█'.repeat(full)}${'░'.repeat(BAR_CHARS - full)}`,
      `${sayBytes(this.#bytes)}/${sayBytes(totalBytes)}`,
      `${sayBytes(rate)}/s`,
      ...(left === undefined ? [] : [`eta ${saySeconds(left)}`]),
      ...(totalFiles > 1 ? [`${this.#files}/${totalFiles} files`] : []),
      printable(this.#name),
    ];
    return Array.from(parts.join('  '))
      .slice(0, Math.max(20, columns - 1))
      .join('');
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#options.stream.write('\r\u001b[K');
  }

  #rate(): number {
    const at = this.#now();
    this.#samples.push({ at, moved: this.#moved });
    while (this.#samples.length > 2 && at - (this.#samples[0]?.at ?? at) > WINDOW_MS) this.#samples.shift();
    const [first] = this.#samples;
    const elapsedMs = at - (first?.at ?? at);
    return elapsedMs <= 0 ? 0 : ((this.#moved - (first?.moved ?? 0)) / elapsedMs) * 1000;
  }

  #draw(): void {
    const { stream } = this.#options;
    stream.write(`\r${this.line(stream.columns)}\u001b[K`);
  }
}

export function sayBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? Math.round(amount) : amount.toFixed(amount < 10 ? 1 : 0)} ${units[power]}`;
}

export function saySeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`;
  return `${Math.floor(whole / 3600)}h${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')}m`;
}
