// Commands with a request_id: how many of them a session remembers.

import { expect, test } from 'vitest';
import { MAX_REQUEST_IDS, startOnce } from '../../../../src/rexd/exec/start-once.js';
import type { Session } from '../../../../src/rexd/sessions.js';

const session = { cwd: '/', roots: { resolve: (path: string) => path } } as unknown as Session;

test('a session remembers MAX_REQUEST_IDS of them, and refuses the next rather than forget one', async () => {
  let started = 0;
  const ask = async (requestId: string, argv = ['true']): Promise<string> => {
    const params = { session_id: 's', argv, shell: false, login: false, stdin_open: false, detach: false };
    const result = await startOnce({
      session,
      params: { ...params, stdin_encoding: 'utf8', request_id: requestId },
      requestId,
      detached: undefined,
      start: () => {
        started += 1;
        return Promise.resolve({ process_id: requestId, started_at: '', pid: 1 });
      },
    });
    return `${result.process_id}${result.existing === true ? ' again' : ''}`;
  };
  for (let i = 0; i < MAX_REQUEST_IDS; i += 1) await ask(String(i));
  expect(started).toBe(MAX_REQUEST_IDS);
  await expect(ask('one more')).rejects.toMatchObject({ code: -32_008 });
  expect(await ask('0')).toBe('0 again');
  await expect(ask('0', ['false'])).rejects.toMatchObject({ code: -32_602 });
});
