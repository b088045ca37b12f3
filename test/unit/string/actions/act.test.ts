import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAX_FIELD_FILE_BYTES } from '../../../../src/string/actions/read-inputs.js';
import { fence, makeActPlace } from './act-place.js';

const ECHO = fence(
  'echo',
  `CLI printf '%s' {text}`,
  '  text, -t: string (required) "what to say"',
  '  loud: boolean',
);

describe('finding actions', () => {
  test('/act lists them with their options, and nothing of what they do', async () => {
    await using place = makeActPlace();
    await place.page(
      fence(
        'search',
        'GET http://x/{q} -H "A: b"',
        '  query, -q: string (required) "Search text"',
        '  limit: number (optional)',
      ) + fence('now', 'CLI date'),
    );
    const list =
      'Actions\n---\n/act.search\n   -q, --query <string> (required) — Search text\n   --limit <number> (optional)\n/act.now\n   (no flags)';
    expect((await place.act('/act')).content).toBe(list);
    expect((await place.act('/act --help')).content).toBe(list);
    const help =
      'Action: search\n---\n   -q, --query <string> (required) — Search text\n   --limit <number> (optional)';
    expect((await place.act('/act.search --help')).content).toBe(help);
    expect((await place.act('/act search -h')).content).toBe(help);
    expect((await place.act('/act.search')).content).toBe(help);
  });

  test('without a document, without actions, with another name', async () => {
    await using place = makeActPlace();
    expect(await place.act('/act.x')).toMatchObject({
      code: 'INVALID_TARGET',
      content: 'No document open. Use /open <uri> first.',
    });
    await place.page('# nothing');
    expect((await place.act('/act')).content).toBe('No actions defined on this page.');
    await place.page(ECHO, 'other.md');
    expect(await place.act('/act.nope')).toMatchObject({
      code: 'NOT_FOUND',
      content: 'Action not found: "nope"\nAvailable: echo',
    });
  });

  test('all ways to run one, in any case, and the command comes before an action of its name', async () => {
    await using place = makeActPlace();
    await place.page(ECHO + fence('Loud', 'CLI echo LOUD') + fence('set', 'CLI echo never'));
    for (const cmd of [
      '/act.echo hi',
      '/act echo hi',
      '/action.echo hi',
      '/echo hi',
      '/ACT.echo hi',
      '/act.ECHO hi',
    ])
      expect((await place.act(cmd)).content, cmd).toBe('hi');
    expect((await place.act('/act.Loud')).content).toBe('LOUD');
    expect((await place.act('/set')).content).toBe('No variables set.');
    expect(await place.act('/nothing')).toMatchObject({ code: 'COMMAND_UNSUPPORTED' });
  });
});

describe('what a caller gives', () => {
  test('positions, options, short options, lines', async () => {
    await using place = makeActPlace();
    await place.page(fence('two', `CLI printf '[%s]' {a} {b}`, '  a, -a: string', '  b: string'));
    expect((await place.act('/act.two x y')).content).toBe('[x][y]');
    expect((await place.act('/act.two --b=x y')).content).toBe('[y][x]');
    expect((await place.act('/act.two -a "x y"')).content).toBe('[x y]');
    expect((await place.act('/act.two "x\ny"')).content).toBe('[x\ny]');
    expect((await place.act('/act.two -5 ""')).content).toBe('[-5][]');
    expect((await place.act('/act.two --')).content).toBe('[]');
    expect(await place.act('/act.two a b c')).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect((await place.act('/act.two a b c')).content).toMatch(/^Too many positional arguments/u);
    expect(await place.act('/act.two "x')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  });

  test('what is quoted goes on over lines, to the byte', async () => {
    await using place = makeActPlace();
    await place.page(fence('bytes', `CLI printf '%s' {text} | od -An -tx1`, '  text: string'));
    for (const text of ['a \r\n\r\nb', 'a\r\nb', ' \t\n  b ', '\r', '\n\n'])
      expect((await place.act(`/act.bytes "${text}"`)).content.trim()).toBe(
        (Buffer.from(text).toString('hex').match(/../gu) ?? []).join(' '),
      );
  });

  test('a switch takes its value, or none; fields go out as they were declared', async () => {
    await using place = makeActPlace();
    await place.page(
      fence('all', `CLI printf '%s ' {...args}`, '  a: string', '  on: boolean', '  b: string'),
    );
    for (const [given, sent] of [
      ['--on no x y', '--a x --on no --b y'],
      ['--b y --on x', '--a x --on true --b y'],
      ['--on=false --b 1', '--on false --b 1'],
    ] as const)
      expect((await place.act(`/act.all ${given}`)).content).toBe(sent);
  });

  test('required, bare, wrong', async () => {
    await using place = makeActPlace();
    await place.page(
      fence(
        'x',
        'CLI echo {a} {n}',
        '  a: string (required)',
        '  n: number (min:1, max:5)',
        '  c: open|done',
      ) + ECHO,
    );
    expect((await place.act('/act.x --n 3')).content).toBe(
      'Missing required flags: a\nUsage:\n   --a <string> (required)\n   --n <number> (optional)\n   --c <open|done> (optional)',
    );
    expect((await place.act('/act.x --a')).content).toBe(
      'Flag --a requires a value (declared type: string).',
    );
    for (const wrong of ['--n x', '--n 0', '--n 6', '--c other'])
      expect(await place.act(`/act.x a ${wrong}`), wrong).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect((await place.act('/act.echo --loud hi')).content).toBe('hi');
  });

  test('$name is refused, {name} is the variable of the topic, @name a shortcut', async () => {
    await using place = makeActPlace();
    await place.page(`[@home Home](https://example.org/)\n\n${ECHO}`);
    expect((await place.act('/act.echo "a $HOME"')).content).toMatch(
      /^\$var cannot be used in command arguments/u,
    );
    await place.act('/set {who} = "me"');
    expect((await place.act('/act.echo "{who} and {nobody}"')).content).toBe('me and {nobody}');
    expect((await place.act('/act.echo "@user said"')).content).toBe('@user said');
    const unknown = await place.act('/act.echo @nobody');
    expect(unknown).toMatchObject({ code: 'NOT_FOUND' });
    expect(unknown.content).toMatch(/^Unknown shortcut: @nobody\nAvailable: /u);
  });

  test('--field-file takes a file as it is', async () => {
    await using place = makeActPlace();
    await place.page(ECHO);
    place.file('long.txt', '{who} $HOME "quoted"\n');
    expect((await place.act('/act.echo --text-file long.txt')).content).toBe('{who} $HOME "quoted"');
    expect((await place.act('/act.echo --text-file long.txt --text x')).content).toBe(
      'pass either --text or --text-file',
    );
    const none = await place.act('/act.echo --text-file none.txt');
    expect(none).toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect(none.content).toMatch(/^cannot read none\.txt/u);
    expect(await place.act('/act.echo --text-file /etc/passwd')).toMatchObject({ code: 'FILE_NOT_ALLOWED' });
    place.file('max.txt', 'x'.repeat(MAX_FIELD_FILE_BYTES));
    place.file('more.txt', 'x'.repeat(MAX_FIELD_FILE_BYTES + 1));
    await place.page(fence('size', `CLI printf %s {text} | wc -c`, '  text: string'), 'size.md');
    expect((await place.act('/act.size --text-file max.txt')).content).toBe(`${MAX_FIELD_FILE_BYTES}`);
    expect(await place.act('/act.size --text-file more.txt')).toMatchObject({ code: 'INVALID_PAYLOAD' });
  });

  test('defaults, and fields that are left out', async () => {
    await using place = makeActPlace();
    await place.page(
      fence(
        'x',
        `CLI printf '[%s]' {a} {b} {c}`,
        '  a: string = "one two"',
        '  b: string',
        '  c: string = ""',
      ),
    );
    expect((await place.act('/act.x')).content).toBe('[one two][]');
  });
});

describe('commands', () => {
  test('run where the document is, without variables of the topic or of the daemon', async () => {
    await using place = makeActPlace();
    await place.page(fence('x', 'CLI pwd; env | cut -d= -f1 | sort | tr "\\n" " "'), 'sub/page.md');
    await place.act('/set {leak} = "me"');
    const { content } = await place.act('/act.x');
    expect(content.split('\n')[0]).toBe(join(place.home, 'sub'));
    expect(content).not.toMatch(/\bleak\b/u);
    expect(content).toMatch(/\bCURRENT_FILE\b/u);
  });

  test('an exit is a code of its own, with or without a template', async () => {
    await using place = makeActPlace();
    await place.page(
      fence('plain', 'CLI echo oh; echo no >&2; exit 3') +
        fence('shaped', 'CLI echo oh; echo no >&2; exit 4') +
        fence('shaped.response', 'Exit {Response.exit_code}: {Response.stdout} / {Response.stderr}') +
        fence('broken', 'CLI echo ( ') +
        fence('quiet', 'CLI true'),
    );
    expect(await place.act('/act.plain')).toMatchObject({ ok: false, code: 'EXIT_3', content: 'oh\nno' });
    expect(await place.act('/act.shaped')).toMatchObject({
      ok: false,
      code: 'EXIT_4',
      content: 'Exit 4: oh / no',
    });
    const broken = await place.act('/act.broken');
    expect(broken).toMatchObject({ ok: false, code: 'EXIT_2' });
    expect(broken.content).toMatch(/syntax error/u);
    expect((await place.act('/act.quiet')).content).toBe('(no output)');
  });

  test('a time that is up ends all of it', async () => {
    await using place = makeActPlace();
    await place.page(fence('x', 'CLI (sleep 300 & echo $! > pid; echo begun; wait)', '  timeout: 1s'));
    const result = await place.act('/act.x');
    expect(result).toMatchObject({ ok: false, code: 'TIMEOUT' });
    expect(result.content).toMatch(/^Timed out after 1 s/u);
    // On a machine that is busy, time may be up before anything was started.
    const pid = existsSync(join(place.home, 'pid'))
      ? readFileSync(join(place.home, 'pid'), 'utf8').trim()
      : '';
    const commandLine = `/proc/${pid}/cmdline`;
    expect(pid !== '' && existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes('300')).toBe(
      false,
    );
  });

  test('--dry-run shows the command, and runs nothing', async () => {
    await using place = makeActPlace();
    await place.page(fence('x', 'CLI touch made {a}', '  a: string'));
    expect((await place.act('/act.x "b c" --dry-run')).content).toBe(
      `Dry run: x\n---\ncwd: ${place.home}\ntouch made 'b c'`,
    );
    expect(existsSync(join(place.home, 'made'))).toBe(false);
  });

  test('where a template is, JSON that was printed can be looked into', async () => {
    await using place = makeActPlace();
    await place.page(
      fence('x', `CLI echo '{"rows":[{"id":1,"t":"a"},{"id":2,"t":"b"}],"n":2}'`) +
        fence(
          'x.response',
          '{count} = {Response.body.n}',
          '{count} rows',
          'for: r in Response.body.rows',
          '{@row} = ({r.id}, {r.t})',
          '- {@row} {r.t}',
          'end:',
          '',
        ) +
        fence('show', `CLI printf '%s=%s' {r[0]} {r[1]}`, '  r: string'),
    );
    expect((await place.act('/act.x')).content).toBe('2 rows\n- @row-1 a\n- @row-2 b');
    expect((await place.act('/act.show @row-2')).content).toBe('2=b');
    expect((await place.act('/act.show 7')).content).toBe('7=');
    expect((await place.act('/set')).content).toContain('{count} = "2"');
  });

  test('a requirements document beside it is named when something fails', async () => {
    await using place = makeActPlace();
    place.file('requirements.md', '# How');
    await place.page(fence('x', 'CLI exit 1'));
    expect((await place.act('/act.x')).content).toBe('(no output)\n\nSetup info: /open requirements.md');
  });
});

test('the same links, answered again, have the same names; others get others', async () => {
  await using place = makeActPlace();
  await place.page(
    `# P\n\n[more](https://example.org/page)\n\n${fence('list', 'CLI cat links.md')}${fence('list.response', '{Response.stdout}')}`,
  );
  const links = (...hrefs: string[]) =>
    hrefs
      .map((href) => `[more](https://example.org/${href}) [@own Own](https://example.org/own/${href})`)
      .join('\n');
  place.file('links.md', links('a', 'b'));
  const first = (await place.act('/act.list')).content;
  expect(first).toContain('[more][@more-2]');
  expect(first).toContain('[more][@more-3]');
  expect((await place.act('/act.list')).content).toBe(first);
  place.file('links.md', links('c', 'b'));
  expect((await place.act('/act.list')).content).toMatch(/\[more\]\[@more-4\].*\n\[more\]\[@more-[35]\]/u);
  expect((await place.act('/info @more-2')).content).toBe('@more-2 → https://example.org/a');
});

test('a flag that a command has no use for is refused, not dropped', async () => {
  await using place = makeActPlace();
  const all = fence('all', 'CLI printf "<%s>" {...args}', '  a: string');
  const rest = fence('rest', 'CLI printf "<%s>" $ARGS', '  a: string');
  await place.page(`${fence('say', 'CLI printf "<%s>" {text} {extra}', '  text, -t: string')}${all}${rest}`);
  for (const [given, flag] of [
    ['--txet hi', '--txet'],
    ['hi -n', '-n'],
    ['--zork 1 hi', '--zork'],
  ])
    expect([given, await place.act(`/act.say ${given}`)]).toEqual([
      given,
      expect.objectContaining({
        code: 'INVALID_PAYLOAD',
        content: expect.stringContaining(`Unknown flag: ${flag}\nFlags: --text\n`) as string,
      }),
    ]);
  for (const [given, said] of [
    ['say hi --extra more', '<hi><more>'],
    ['say --text=-n', '<-n><{extra}>'],
    ['all --a 1 --zork 2', '<--a><1><--zork><2>'],
    ['rest --zork 2', '<--zork><2>'],
  ])
    expect([given, (await place.act(`/act.${given}`)).content]).toEqual([given, said]);
});
