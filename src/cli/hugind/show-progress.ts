// How far a download is, for a person: one line that changes on a terminal, milestones elsewhere. On stderr.

import type { Emit } from '../../hugind/call.js';
import { writeTo } from '../standard-output.js';
import { sayBytes } from './say-bytes.js';

const BAR_CHARS = 24;

export interface ShownProgress {
  readonly emit: Emit;
  /** The line that changes is over. */
  readonly end: () => void;
}

export function showProgress(silent: boolean, stream: NodeJS.WriteStream = process.stderr): ShownProgress {
  const say = (text: string): void => void writeTo(stream, text).catch(() => {});
  let isOpen = false;
  const end = (): void => {
    if (isOpen) say('\n');
    isOpen = false;
  };
  const emit: Emit = (event, data) => {
    if (silent) return;
    if (event === 'progress' && stream.isTTY) {
      isOpen = true;
      say(`\r\u001b[K${progressLine(data)}`);
    } else if (event === 'status') {
      end();
      say(`${String(data['message'] ?? data['status'])}\n`);
    }
  };
  return { emit, end };
}

function progressLine(data: Readonly<Record<string, unknown>>): string {
  const [downloaded, total] = [Number(data['downloaded']), data['total']];
  const file = String(data['file']);
  if (typeof total !== 'number' || total === 0) return `${file} ${sayBytes(downloaded)}`;
  const done = Math.floor((downloaded / total) * BAR_CHARS);
  const bar = '█'.repeat(done) + '░'.repeat(BAR_CHARS - done);
  return `${file} ${bar} ${Math.floor((downloaded / total) * 100)} % of ${sayBytes(total)}`;
}
