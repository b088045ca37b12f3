// Puts the terminal add-on into a bundle that is copied alone: one text for each platform that npm has brought.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { ROOT } from './paths.js';

const PLATFORMS = ['linux-x64', 'linux-arm64'] as const;
const TABLE = /\/embedded-addons\.(js|ts)$/;
const ADDON = /^addon:/;

const fileOf = (platform: string): string => join(ROOT, `node_modules/@lydell/node-pty-${platform}/pty.node`);

/** Those whose add-on is here. npm brings the one of the machine it runs on, and others when they are asked for by name. */
export function embeddable(platforms: readonly string[] = PLATFORMS): string[] {
  return platforms.filter((platform) => existsSync(fileOf(platform)));
}

/** In place of src/host/pty/embedded-addons.ts. Each add-on is a part of its own, which nothing reads until a terminal is asked for. */
export function embedAddons(platforms: readonly string[]): Plugin {
  const entries = platforms.map((name) => `${JSON.stringify(name)}: () => import("addon:${name}")`);
  return {
    name: 'embed-addons',
    setup(bundler) {
      bundler.onLoad({ filter: TABLE }, () => ({
        contents: `export const EMBEDDED_ADDONS = { ${entries.join(', ')} };`,
      }));
      bundler.onResolve({ filter: ADDON }, ({ path }) => ({
        path: path.replace(ADDON, ''),
        namespace: 'addon',
      }));
      bundler.onLoad({ filter: /./, namespace: 'addon' }, ({ path }) => ({
        contents: `export const packed = ${JSON.stringify(pack(fileOf(path)))};`,
      }));
    },
  };
}

function pack(file: string): string {
  return gzipSync(readFileSync(file), { level: 9 }).toString('base64');
}

/** What a bundle lacks, to be said when it is built: nobody shall find out on the host it was copied to. */
export function missingAddons(platforms: readonly string[] = PLATFORMS): string | undefined {
  const here = embeddable(platforms);
  const missing = platforms.filter((platform) => !here.includes(platform));
  if (missing.length === 0) return undefined;
  const packages = missing.map((platform) => `@lydell/node-pty-${platform}`);
  return `no terminals on ${missing.join(', ')}: ${packages.join(', ')} not in node_modules`;
}
