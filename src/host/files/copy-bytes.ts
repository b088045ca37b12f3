// The content of one file into another: by reference where the file system can, else so that it can be called off.

import { constants } from 'node:fs';
import { copyFile, type FileHandle, open } from 'node:fs/promises';
import { errnoOf } from '../../base/errors.js';
import { descriptorPath, type Pin } from './pin.js';

/** Copied between two looks at the signal. What is no larger the kernel copies at once. */
export const COPY_SLICE_BYTES = 4 * 1024 * 1024;

/** In threads of their own, both ways. `to` is a descriptor of an empty file. */
export async function copyBytes(
  source: Pin,
  to: number,
  size: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const target = descriptorPath(to);
  if (size <= COPY_SLICE_BYTES) return await copyFile(source.here, target);
  try {
    await copyFile(source.here, target, constants.COPYFILE_FICLONE_FORCE);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    await copySlices(source, target, signal); // no such thing there; any other trouble comes again, and is told
  }
}

async function copySlices(source: Pin, target: string, signal: AbortSignal | undefined): Promise<void> {
  await using input = await open(source.here, 'r');
  await using output = await open(target, 'r+');
  const slice = Buffer.allocUnsafe(COPY_SLICE_BYTES);
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await input.read(slice, 0, slice.length, at);
    if (bytesRead === 0) return;
    await writeAll(output, slice.subarray(0, bytesRead), at);
    at += bytesRead;
  }
}

async function writeAll(output: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await output.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}
