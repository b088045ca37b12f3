// A folder for one test, gone when that is over, however it ends.

import { onTestFinished } from 'vitest';
import { makeBase } from './bus.js';
import { removeFolder } from './remove-folder.js';

export function makeScratch(): string {
  const folder = makeBase();
  onTestFinished(() => removeFolder(folder));
  return folder;
}
