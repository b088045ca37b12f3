import { expect, test } from 'vitest';
import { ConflictError, NotFoundError } from '../../../../src/host/files/errors.js';
import { MAX_EDIT_TRIES, retryConflicts } from '../../../../src/rexd/fs/retry-conflicts.js';

test('an edit is tried again for as long as somebody else writes, but not for ever', async () => {
  let tries = 0;
  const failing = (times: number) => async (): Promise<string> => {
    tries += 1;
    if (tries <= times) throw new ConflictError('/f', undefined);
    return 'kept';
  };
  expect(await retryConflicts(failing(MAX_EDIT_TRIES - 1))).toBe('kept');
  expect(tries).toBe(MAX_EDIT_TRIES);
  tries = 0;
  await expect(retryConflicts(failing(MAX_EDIT_TRIES))).rejects.toThrow(ConflictError);
  expect(tries).toBe(MAX_EDIT_TRIES);
});

test('any other failure is told at once', async () => {
  let tries = 0;
  const edit = async (): Promise<void> => {
    tries += 1;
    throw new NotFoundError('/f');
  };
  await expect(retryConflicts(edit)).rejects.toThrow(NotFoundError);
  expect(tries).toBe(1);
});
