// /ls: what is in a directory.

import { unquoteTarget } from '../arguments.js';
import { isWeb } from '../load/resolve-target.js';
import { describeDirectory } from '../files/list-directory.js';
import { fail, succeed } from '../result.js';
import type { Command } from '../command.js';

export const lsCommand: Command = {
  name: 'ls',
  group: 'inspect',
  usage: '/ls [PATH]',
  summary: 'what is in a directory',
  run: async ({ line, session, runtime, signal }) => {
    if (session.topic.type !== 'tab')
      return fail(
        'INVALID_TARGET',
        '/ls works in tabs.',
        'Use a tab topic such as main, or ls in a bash topic.',
      );
    const asked = unquoteTarget(line.args.trim());
    if (isWeb(session.document?.uri) && !/^[~/]/u.test(asked))
      return fail(
        'INVALID_TARGET',
        'This page is from the web, and has no folder.',
        'Use /ls ~ for your files, or /nav page for the links of this page.',
      );
    const { files } = runtime;
    let path: string;
    try {
      path = asked === '' ? files.workingDirectory(session) : files.resolve(session, asked);
    } catch (thrown) {
      return files.explain(thrown, asked);
    }
    const rows = await describeDirectory(files, path, { asked: asked === '' ? path : asked, signal });
    return typeof rows === 'string' ? succeed(`Listing ${files.shorten(path)}/`, rows) : rows;
  },
};
