// REXD v1: session.open, session.info, session.close.

import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startRexd } from '../kit/rexd-under-test.js';
import { verifies } from '../kit/verifies.js';

const LIMITS = [
  'max_output_bytes',
  'max_file_read_bytes',
  'max_processes_per_session',
  'default_timeout_ms',
  'hard_timeout_ms',
  'max_concurrent_sessions',
];

verifies('rexd/version/open-says', async () => {
  await using rexd = startRexd();
  const opened = await rexd.ask('session.open', { client_name: 't' });
  expect(opened).toMatchObject({
    protocol: 'rexd/1',
    server_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
  expect(opened['capabilities']).toEqual(expect.any(Array));
});

verifies('rexd/session.open/params', async () => {
  await using rexd = startRexd();
  const all = {
    client_name: 't',
    client_version: '1',
    workspace_roots: [rexd.grounds.root],
    requested_capabilities: ['exec'],
  };
  await rexd.ask('session.open', all);
  for (const [field, wrong] of [
    ['client_name', 5],
    ['client_version', {}],
    ['workspace_roots', 'not an array'],
    ['requested_capabilities', [1]],
  ] as const) {
    const { error } = await rexd.call('session.open', { ...all, [field]: wrong });
    expect(error?.code, field).toBe(-32602);
    expect(error?.message).toContain(field);
  }
});

verifies('rexd/session.open/result', async () => {
  await using rexd = startRexd();
  const opened = await rexd.ask('session.open', { client_name: 't' });
  expect(opened).toMatchObject({
    session_id: expect.stringMatching(/./),
    protocol: 'rexd/1',
    server_version: expect.any(String),
    capabilities: expect.any(Array),
    limits: expect.any(Object),
    workspace_roots: [rexd.grounds.root, rexd.grounds.otherRoot],
  });
  const again = await rexd.ask('session.open', { client_name: 't' });
  expect(again['session_id']).not.toBe(opened['session_id']);
});

verifies('rexd/session.open/roots', async () => {
  await using rexd = startRexd();
  const { root, otherRoot, outside } = rexd.grounds;
  const granted = async (workspace_roots: string[]): Promise<unknown> =>
    (await rexd.ask('session.open', { client_name: 't', workspace_roots }))['workspace_roots'];
  expect(await granted([otherRoot])).toEqual([otherRoot]);
  expect(await granted([`${root}/`])).toEqual([root]);
  expect(await granted([join(root, 'sub')])).toEqual([join(root, 'sub')]);
  expect(await granted([outside, root])).toEqual([root]);
});

verifies('rexd/session.open/roots-outside', async () => {
  await using rexd = startRexd();
  const { root, otherRoot, outside } = rexd.grounds;
  symlinkSync(outside, join(root, 'way-out'));
  for (const path of [outside, `${root}-2`, join(root, '..', 'outside'), join(root, 'way-out'), '/etc']) {
    const { error } = await rexd.call('session.open', { client_name: 't', workspace_roots: [path] });
    expect(error, path).toMatchObject({ code: -32002, data: { path, allowed_roots: [root, otherRoot] } });
  }
});

verifies('rexd/session.open/limits', async () => {
  await using rexd = startRexd({ max_output_bytes: 4096, hard_timeout_ms: 60_000 });
  const { limits } = await rexd.ask('session.open', { client_name: 't' });
  expect(Object.keys(limits as object).sort()).toEqual([...LIMITS].sort());
  expect(Object.values(limits as object).every((value) => Number.isInteger(value) && value > 0)).toBe(true);
  expect(limits).toMatchObject({
    max_output_bytes: 4096,
    hard_timeout_ms: 60_000,
    default_timeout_ms: 30_000,
    max_concurrent_sessions: 16,
  });
});

verifies('rexd/session.open/limits-downward', async () => {
  await using rexd = startRexd({ max_output_bytes: 4096 });
  const open = (limits: object): Promise<Record<string, unknown>> =>
    rexd.ask('session.open', { client_name: 't', limits });
  expect((await open({ max_output_bytes: 100 }))['limits']).toMatchObject({ max_output_bytes: 100 });
  expect((await open({ max_output_bytes: 1_000_000 }))['limits']).toMatchObject({ max_output_bytes: 4096 });
});

verifies('rexd/session.open/max-sessions', async () => {
  await using rexd = startRexd({ max_concurrent_sessions: 2 });
  const first = await rexd.ask('session.open', { client_name: 't' });
  await rexd.ask('session.open', { client_name: 't' });
  expect((await rexd.call('session.open', { client_name: 't' })).error).toMatchObject({
    code: -32008,
    data: { limit: 'max_concurrent_sessions', value: 2 },
  });
  await rexd.ask('session.close', { session_id: first['session_id'] });
  await rexd.ask('session.open', { client_name: 't' });
});

verifies('rexd/session.info/result', async () => {
  await using rexd = startRexd();
  const { otherRoot } = rexd.grounds;
  const opened = await rexd.ask('session.open', { client_name: 't', workspace_roots: [otherRoot] });
  const info = await rexd.ask('session.info', { session_id: opened['session_id'] });
  expect(info).toMatchObject({
    session_id: opened['session_id'],
    cwd: otherRoot,
    workspace_roots: [otherRoot],
    running_processes: 0,
    limits: opened['limits'],
  });
});

verifies('rexd/session.close/closes', async () => {
  await using rexd = startRexd();
  const { session_id } = await rexd.ask('session.open', { client_name: 't' });
  expect(await rexd.ask('session.close', { session_id })).toEqual({ ok: true });
  for (const method of ['session.info', 'session.close']) {
    expect((await rexd.call(method, { session_id })).error).toMatchObject({
      code: -32602,
      data: { session_id },
    });
  }
});

verifies('rexd/errors/invalid-params', async () => {
  await using rexd = startRexd();
  for (const params of [undefined, {}, { session_id: null }, { session_id: ['s'] }]) {
    const { error } = await rexd.call('session.info', params);
    expect(error?.code).toBe(-32602);
    expect(error?.message).toContain('session_id');
  }
});

verifies('rexd/config/toml', async () => {
  await using rexd = startRexd({ max_processes_per_session: 3 });
  const opened = await rexd.ask('session.open', { client_name: 't' });
  expect(opened['limits']).toMatchObject({ max_processes_per_session: 3 });
  expect(opened['workspace_roots']).toEqual([rexd.grounds.root, rexd.grounds.otherRoot]);
});

verifies('rexd/example/open-session', async () => {
  await using rexd = startRexd();
  const { root } = rexd.grounds;
  const answer = await rexd.exchange(
    `{"jsonrpc":"2.0","id":1,"method":"session.open","params":{"client_name":"my-agent","workspace_roots":[${JSON.stringify(root)}]}}`,
  );
  expect(answer).toMatchObject({ id: 1, result: { protocol: 'rexd/1', workspace_roots: [root] } });
});
