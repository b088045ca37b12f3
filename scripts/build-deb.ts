// Builds dist/hawser-rexd_VERSION_all.deb: the one file of rexd, its units, a configuration, a manual page.
//
// What is started, and as whom, is the machine's to decide: installing starts nothing.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildIfStale } from './build.js';
import { DIST, ROOT } from './paths.js';

const NAME = 'hawser-rexd';
const PROGRAM = join(DIST, 'rexd.cjs');

/** Where the package is; built from dist/rexd.cjs, which is built first if need be. */
export async function buildDeb(outdir: string = DIST): Promise<string> {
  await buildIfStale();
  if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is not there: run npm run build`);
  const { version, description } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
    description: string;
  };
  const tree = mkdtempSync(join(tmpdir(), 'hawser-deb-'));
  try {
    fill(tree, version, description);
    const file = join(outdir, `${NAME}_${version}_all.deb`);
    execFileSync('dpkg-deb', ['--root-owner-group', '--build', tree, file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return file;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

function fill(tree: string, version: string, description: string): void {
  const put = (path: string, content: string | Buffer, mode = 0o644): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(tree, path), content, { mode });
  };
  const take = (name: string): Buffer => readFileSync(join(ROOT, 'packaging', name));
  mkdirSync(join(tree, 'usr/lib/hawser'), { recursive: true });
  cpSync(PROGRAM, join(tree, 'usr/lib/hawser/rexd.cjs'));
  put('usr/bin/rexd', WRAPPER, 0o755);
  for (const unit of ['rexd.service', 'rexd.socket']) put(`usr/lib/systemd/system/${unit}`, take(unit));
  put('etc/rexd/config.toml', take('config.toml'));
  put('usr/share/man/man1/rexd.1.gz', gzipSync(take('rexd.1'), { level: 9 }));
  const doc = `usr/share/doc/${NAME}`;
  put(`${doc}/daemon.md`, readFileSync(join(ROOT, 'docs/guide/daemon.md')));
  put(`${doc}/rexd.toml`, readFileSync(join(ROOT, 'docs/examples/rexd.toml')));
  put(`${doc}/copyright`, readFileSync(join(ROOT, 'LICENSE')));
  put('DEBIAN/conffiles', '/etc/rexd/config.toml\n');
  put('DEBIAN/postrm', POSTRM, 0o755);
  put(
    'DEBIAN/control',
    [
      `Package: ${NAME}`,
      `Version: ${version}`,
      'Architecture: all',
      'Maintainer: The Hawser maintainers <maintainers@hawser.invalid>',
      // Recommended only: a host may have its Node from elsewhere, and then it has no package of that name.
      'Recommends: nodejs (>= 20.19)',
      'Suggests: bubblewrap, openssh-server',
      'Section: admin',
      'Priority: optional',
      `Description: REXD v1 server: run commands and edit files for agents`,
      ` ${description}`,
      ' rexd serves a client over ssh and stdio, or many over HTTP, WebSocket and a',
      ' unix socket. Nothing is started by installing it.',
      '',
    ].join('\n'),
  );
}

/** The process stays the one that was started: systemd passes sockets by its number. */
const WRAPPER = `#!/bin/sh
node=\${REXD_NODE:-node}
if ! command -v "$node" >/dev/null 2>&1; then
  echo "rexd: there is no Node here; install nodejs 20.19 or newer, or set REXD_NODE" >&2
  exit 127
fi
exec "$node" /usr/lib/hawser/rexd.cjs "$@"
`;

const POSTRM = `#!/bin/sh
set -e
if [ "$1" = purge ]; then
  rm -rf /var/log/rexd
  rmdir /etc/rexd 2>/dev/null || true
fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.stdout.write(`${await buildDeb()}\n`);
