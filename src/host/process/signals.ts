// Signal names as people write them: TERM, SIGTERM, sigterm, 15, RTMIN+2.

import { constants } from 'node:os';

const RTMIN = 34;
const RTMAX = 64;
/** Names other systems and older manuals use for the same number. */
const ALIASES: Readonly<Record<string, string>> = { SIGCLD: 'SIGCHLD', SIGPOLL: 'SIGIO' };

const numbers = new Map<string, number>(Object.entries(constants.signals));
const names = new Map<number, string>();
// The first name of a number is the usual one: SIGABRT comes before SIGIOT.
for (const [name, number] of numbers) if (!names.has(number)) names.set(number, name);

/** The number of a signal, or undefined when there is no such signal. Signal 0 is a question, not a signal. */
export function parseSignal(text: string): number | undefined {
  const wanted = text.trim().toUpperCase();
  if (/^\d{1,3}$/.test(wanted)) return inRange(Number(wanted));
  const name = wanted.startsWith('SIG') ? wanted : `SIG${wanted}`;
  return numbers.get(ALIASES[name] ?? name) ?? parseRealTime(name);
}

/** `SIGTERM` for 15, `SIGRTMIN+2` for 36. */
export function signalName(number: number): string {
  const name = names.get(number);
  if (name !== undefined) return name;
  return number === RTMIN ? 'SIGRTMIN' : `SIGRTMIN+${number - RTMIN}`;
}

/** As shells count: 128 and the number of the signal. */
export const SIGNAL_BASE = 128;

/** The signal that an exit status tells of, if there is one of that number. */
export function signalOfStatus(status: number): string | undefined {
  const number = inRange(status - SIGNAL_BASE);
  return number === undefined ? undefined : signalName(number);
}

function parseRealTime(name: string): number | undefined {
  const parts = /^SIGRT(MIN|MAX)(?:([+-])(\d{1,2}))?$/.exec(name);
  if (parts === null) return undefined;
  const base = parts[1] === 'MIN' ? RTMIN : RTMAX;
  const distance = Number(parts[3] ?? 0) * (parts[2] === '-' ? -1 : 1);
  const number = base + distance;
  return number >= RTMIN && number <= RTMAX ? number : undefined;
}

/** 32 and 33 are the threading library's own. */
function inRange(number: number): number | undefined {
  return names.has(number) || (number >= RTMIN && number <= RTMAX) ? number : undefined;
}
