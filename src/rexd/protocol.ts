// REXD v1 as data: every method and event, in the order of the specification.

import {
  ExecError,
  ExecExit,
  ExecInput,
  ExecKill,
  ExecList,
  ExecRead,
  ExecStart,
  ExecStderr,
  ExecStdout,
  ExecWait,
} from './protocol/exec.js';
import {
  FsCopy,
  FsEdit,
  FsGlob,
  FsList,
  FsMkdir,
  FsMove,
  FsPatch,
  FsRead,
  FsRemove,
  FsSearch,
  FsStat,
  FsWrite,
} from './protocol/fs.js';
import { PtyClose, PtyExit, PtyInput, PtyOpen, PtyOutput, PtyResize } from './protocol/pty.js';
import { SESSION_METHODS } from './protocol/session.js';

export const EXEC_METHODS = { ExecStart, ExecWait, ExecKill, ExecInput, ExecList, ExecRead };
export const FS_METHODS = {
  FsRead,
  FsWrite,
  FsList,
  FsGlob,
  FsStat,
  FsEdit,
  FsPatch,
  FsMkdir,
  FsRemove,
  FsMove,
  FsCopy,
  FsSearch,
};
export const PTY_METHODS = { PtyOpen, PtyInput, PtyResize, PtyClose };
export const EVENTS = { ExecStdout, ExecStderr, ExecExit, ExecError, PtyOutput, PtyExit };

export const METHODS = { ...SESSION_METHODS, ...EXEC_METHODS, ...FS_METHODS, ...PTY_METHODS };
