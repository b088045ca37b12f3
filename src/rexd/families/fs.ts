// fs.*, loaded by the first call.

import type { Router } from '../../wire/jsonrpc/router.js';
import type { CallContext } from '../context.js';
import { copyFile } from '../methods/fs-copy.js';
import { editFile } from '../methods/fs-edit.js';
import { globFiles } from '../methods/fs-glob.js';
import { listFolder } from '../methods/fs-list.js';
import { makeFolder } from '../methods/fs-mkdir.js';
import { moveFile } from '../methods/fs-move.js';
import { patchFiles } from '../methods/fs-patch.js';
import { readFromFile } from '../methods/fs-read.js';
import { removeFile } from '../methods/fs-remove.js';
import { searchInFiles } from '../methods/fs-search.js';
import { statFile } from '../methods/fs-stat.js';
import { writeToFile } from '../methods/fs-write.js';
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
} from '../protocol/fs.js';

export function addFsMethods(router: Router<CallContext>): void {
  router
    .method(FsRead, (params, ctx) => ctx.reads.run(() => readFromFile(params, ctx)))
    .method(FsWrite, writeToFile)
    .method(FsList, (params, ctx) => ctx.walks.run(() => listFolder(params, ctx)))
    .method(FsGlob, (params, ctx) => ctx.walks.run(() => globFiles(params, ctx)))
    .method(FsStat, statFile)
    .method(FsEdit, editFile)
    .method(FsPatch, patchFiles)
    .method(FsMkdir, makeFolder)
    .method(FsRemove, removeFile)
    .method(FsMove, moveFile)
    .method(FsCopy, copyFile)
    .method(FsSearch, (params, ctx) => ctx.walks.run(() => searchInFiles(params, ctx)));
}
