// The mark every child carries in its environment, by which it is found wherever it was reparented.

import { newId } from '../../base/ids.js';
import { type ProcIdentity, readPidNamespace, readStat } from './proc-table.js';

/**
 * `<inherited mark>/<host>/<child>`: a prefix finds a whole subtree. The host segment says which process started it
 * (`h<pid>.<start>.<namespace>`), so that anyone can tell whether that process still lives.
 * A detached child is nobody's subtree: `<first segment>~<id>`, and its own children carry on from there.
 * Below a confined scope (`c_<id>`) that does not count: strangers' commands write what they like in their environment.
 */
export const MARK_VARIABLE = 'HAWSER_MARK';

export interface MarkHost extends ProcIdentity {
  readonly namespace: string;
  /** The mark up to and including this host's segment. */
  readonly prefix: string;
}

const HOST_SEGMENT = /^h(\d+)\.(\d+)\.(\d+)$/;
const DETACHED_SEGMENT = /^(?:[^/]*~)?d_[0-9a-hjkmnp-tv-z]{26}(?:\/|$)/;

const CONFINED_SEGMENT = /(?:^|\/)c_[0-9a-hjkmnp-tv-z]{26}(?:\/|$)/;

let own: string | undefined;

/** The prefix of all that this process starts and does not detach. */
export function ownMark(): string {
  own ??= join(
    inheritedMark(),
    `h${process.pid}.${readStat(process.pid)?.startTicks ?? 0}.${readPidNamespace()}`,
  );
  return own;
}

/** A group of processes that can be stopped together: those of one session, one pool, one topic. */
export function newScope(parent: string = ownMark()): string {
  return join(parent, newId('g'));
}

/** For commands of strangers: none of them leaves the scope by a mark of its own making. */
export function newConfinedScope(parent: string = ownMark()): string {
  return join(parent, newId('c'));
}

export function newChildMark(scope: string = ownMark()): string {
  return join(scope, newId('p'));
}

export function newDetachedMark(): string {
  const root = inheritedMark().split(/[/~]/, 1)[0] ?? '';
  return root === '' ? newId('d') : `${root}~${newId('d')}`;
}

export function isUnder(mark: string, prefix: string): boolean {
  return mark.startsWith(prefix) && (mark.length === prefix.length || mark[prefix.length] === '/');
}

export function isDetachedMark(mark: string): boolean {
  return DETACHED_SEGMENT.test(mark);
}

export function isConfinedMark(mark: string): boolean {
  return CONFINED_SEGMENT.test(mark);
}

/** The processes that stand between the root and the one that carries `mark`, outermost first. */
export function markHosts(mark: string): MarkHost[] {
  const hosts: MarkHost[] = [];
  let end = 0;
  for (const segment of mark.split('/')) {
    end += segment.length;
    const found = HOST_SEGMENT.exec(segment);
    if (found !== null) {
      const [, pid, startTicks, namespace = ''] = found;
      hosts.push({ pid: Number(pid), startTicks: Number(startTicks), namespace, prefix: mark.slice(0, end) });
    }
    end += 1;
  }
  return hosts;
}

/** For a regular expression: what we inherited of a mark may hold anything. */
export function asPattern(mark: string): string {
  return mark.replaceAll(/[^\w/-]/g, '.');
}

function inheritedMark(): string {
  return process.env[MARK_VARIABLE] ?? '';
}

function join(prefix: string, segment: string): string {
  return prefix === '' ? segment : `${prefix}/${segment}`;
}
