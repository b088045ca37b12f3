import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Decision, MAX_POLICY_BYTES } from '../../../src/string/agent-policy.js';
import { CAPABILITIES, Policy } from '../../../src/string/policy.js';
import { type ActPlace, fence, makeActPlace, startEcho } from './actions/act-place.js';

function setPolicy({ dataDir }: ActPlace, policy: unknown): void {
  const folder = join(dataDir, 'policies/default');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy.json'), typeof policy === 'string' ? policy : JSON.stringify(policy));
}

describe('a policy', () => {
  test('without a file is the table: all for the agent and its packages, requests alone for strangers', () => {
    const policy = new Policy();
    for (const each of CAPABILITIES) {
      expect([policy.allows('local', each), policy.allows('installed', each)]).toEqual([true, true]);
      expect([each, policy.allows('remote', each)]).toEqual([
        each,
        ['get', 'mutate', 'variables'].includes(each),
      ]);
    }
    expect([policy.shell, policy.switchedOff]).toEqual([true, []]);
  });

  test('takes, and never gives', () => {
    const policy = new Policy({ shell: false, local: { commands: false }, remote: { commands: true } });
    expect([policy.shell, policy.allows('local', 'commands'), policy.allows('local', 'get')]).toEqual([
      false,
      false,
      true,
    ]);
    expect(policy.allows('remote', 'commands')).toBe(false);
    expect(policy.switchedOff).toEqual(['shell', 'local commands']);
  });
});

test('shells are off for /exec and for bash topics, and /info says so; the next command sees a change', async () => {
  await using place = makeActPlace();
  setPolicy(place, { shell: false });
  for (const [topic, cmd] of [
    ['main', '/exec touch x'],
    ['bash:dev', 'touch x'],
    ['main', '/open bash:dev'],
  ] as const)
    expect(await place.run(topic, cmd), cmd).toMatchObject({ ok: false, code: 'POLICY_DENIED' });
  expect((await place.act('/info')).content).toContain('policy:    off: shell');
  setPolicy(place, {});
  expect((await place.act('/exec echo on')).content).toContain('on');
  expect((await place.act('/info')).content).not.toContain('policy:');
});

test('each capability of a page can be switched off', async () => {
  await using place = makeActPlace();
  await using echo = await startEcho();
  place.file('note.txt', 'note');
  const page =
    fence('cli', 'CLI echo ran') +
    fence('get', `GET ${echo.url}/x`) +
    fence('post', `POST ${echo.url}/x`) +
    fence('file', `PUT ${echo.url}/x -d '{"f":"{p|file}"}'`, '  p: path = "note.txt"') +
    fence('keep', `GET ${echo.url}/x`) +
    fence('keep.response', 'save: Response.body', 'to: kept.txt');
  await place.page(`---\ndefault: cli\n---\n${page}`);
  for (const [capability, cmd, code] of [
    ['commands', '/act.cli', 'POLICY_DENIED'],
    ['get', '/act.get', 'POLICY_DENIED'],
    ['mutate', '/act.post', 'POLICY_DENIED'],
    ['private', '/act.get', 'POLICY_DENIED'],
    ['files', '/act.file', 'FILE_NOT_ALLOWED'],
    ['files', '/act.keep', 'FILE_NOT_ALLOWED'],
  ] as const) {
    setPolicy(place, { local: { [capability]: false } });
    expect([capability, cmd, (await place.act(cmd)).code]).toEqual([capability, cmd, code]);
    setPolicy(place, { installed: { [capability]: false } });
    expect([capability, cmd, (await place.act(cmd)).code]).toEqual([capability, cmd, null]);
  }
  expect((await place.act('/refresh')).content).toContain('ran');
  setPolicy(place, { local: { autorun: false } });
  expect((await place.act('/refresh')).content).not.toContain('ran');
});

test('values of an app are kept from its pages', async () => {
  await using place = makeActPlace();
  place.file('p/string.md', `---\nname: peek\ntype: app\n---\n${fence('x', 'CLI echo "<$KEY>"')}`);
  await place.act('/install ~/p');
  await place.run('app:peek', '/set $KEY = "value"');
  expect((await place.run('app:peek', '/act.x')).content).toBe('<value>');
  setPolicy(place, { installed: { variables: false } });
  expect((await place.run('app:peek', '/act.x')).content).toBe('<>');
});

test('a file that cannot be understood forbids everything, and documents can still be read', async () => {
  await using place = makeActPlace();
  await place.page(`---\ndefault: cli\n---\n# Page\n${fence('cli', 'CLI echo ran')}`);
  for (const text of ['{', '{"shel": false}', '{"local":{"all":false}}', ' '.repeat(MAX_POLICY_BYTES + 1)]) {
    setPolicy(place, text);
    for (const cmd of ['/act.cli', '/exec true'])
      expect(await place.act(cmd), text.slice(0, 20)).toMatchObject({ code: 'POLICY_DENIED' });
    const { ok, content } = await place.act('/refresh');
    expect([ok, content.includes('ran')]).toEqual([true, false]);
    expect((await place.act('/info')).content).toContain('cannot be read');
  }
});

test('every decision is noted: what ran, and what was refused', async () => {
  const noted: Decision[] = [];
  await using place = makeActPlace({ note: (_, decision) => void noted.push(decision) });
  await using echo = await startEcho(({ path }, response) => {
    if (path === '/evil.md')
      response
        .setHeader('content-type', 'text/markdown')
        .end(`---\ndefault: a\n---\n${fence('a', 'CLI touch x')}${fence('b', 'GET http://10.0.0.1/')}`);
    return path === '/evil.md';
  });
  await place.page(fence('cli', 'CLI true') + fence('get', `GET ${echo.url}/x`));
  for (const cmd of ['/act.cli', '/act.get', '/exec true', '/open /etc/passwd', `/open ${echo.url}/evil.md`])
    await place.act(cmd);
  for (const cmd of ['/act.a', '/act.b', '/act.cli --dry-run']) await place.act(cmd);
  expect(noted.map(({ what, trust, allowed }) => [what, trust, allowed])).toEqual([
    ['commands', 'local', true],
    ['get', 'local', true],
    ['shell', undefined, true],
    ['refused', undefined, false],
    ['autorun', 'remote', false],
    ['refused', undefined, false],
    ['get', 'remote', true],
    ['refused', undefined, false],
  ]);
});
