// rexd: everything the server promises to be fast at, beside the bare calls it is made of and any peer that speaks REXD.

import { BareWorker } from '../harness/bare-worker.js';
import type { Suite } from '../harness/types.js';
import { firstAnswerCase } from './cold-start.js';
import { Daemon } from './rexd/daemon.js';
import { largeStreamCases, spawnCases, streamCases } from './rexd/exec-cases.js';
import { readCases, statCases, writeCases } from './rexd/file-cases.js';
import { treeCases } from './rexd/tree-cases.js';
import { inWorkspace, makeWorkspace } from './rexd/workspace.js';
import { builtRexd } from './rexd-session.js';

export const rexdSuite: Suite = {
  name: 'rexd',
  summary: 'commands, streams and files through the built rexd, vs bare spawn, bare pipes and bare fs calls',
  peerSpeaks: 'rexd',
  async prepare({ root: project, peers: asked, large }, cleanup) {
    const workspace = makeWorkspace(cleanup);
    const { root, config } = workspace;
    const peers = asked.map(({ name, argv }) => ({ name, argv: inWorkspace(argv, workspace) }));
    const rexd = builtRexd(project);
    const bare = await BareWorker.start(cleanup);
    const startAll = async (): Promise<Daemon[]> => {
      const daemons = [await Daemon.start('rexd', 'ours', [...rexd, '--config', config], cleanup)];
      for (const { name, argv } of peers) daemons.push(await Daemon.start(name, 'peer', argv, cleanup));
      return daemons;
    };
    const daemons = await startAll();
    return [
      await firstAnswerCase(rexd, peers),
      ...(await statCases(daemons, bare, root)),
      ...(await spawnCases(daemons, cleanup)),
      ...streamCases(daemons, bare, root),
      ...(large ? largeStreamCases(daemons, bare, root) : []),
      ...(await readCases(daemons, bare, root)),
      ...(await writeCases(daemons, bare, root)),
      // By servers of their own: what a list of 50,000 files leaves in memory makes every later fork dearer.
      ...(await treeCases(await startAll(), bare, root)),
    ];
  },
};
