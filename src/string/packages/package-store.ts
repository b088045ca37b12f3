// Packages in an agent's home: put there as a whole or not at all, and known by the config.json beside them.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import { JsonStore } from '../../host/store/json-store.js';
import { makeFolders } from '../../host/make-folders.js';
import { MAIN, type PackageFiles } from './package-files.js';
import { MAX_REGISTRY_BYTES } from './registry.js';

export const PACKAGE_KINDS = ['app', 'tool'] as const;
export type PackageKind = (typeof PACKAGE_KINDS)[number];

const Meta = z.looseObject({
  kind: z.optional(z.enum(PACKAGE_KINDS)),
  namespace: z.optional(z.string()),
  name: z.optional(z.string()),
  version: z.optional(z.string()),
  source: z.optional(z.string()),
  sha256: z.optional(z.record(z.string(), z.string())),
});
export type PackageMeta = z.infer<typeof Meta>;

const Config = z.looseObject({
  apps: z.optional(z.record(z.string(), z.string())),
  tools: z.optional(z.record(z.string(), z.string())),
  packageMeta: z.optional(z.record(z.string(), Meta)),
});
type Config = z.infer<typeof Config>;

const SECTION = { app: 'apps', tool: 'tools' } as const;

export function folderOfPackage(home: string, name: string): string {
  return join(home, 'packages', name);
}

/** What is known of a package besides its address. */
export async function readMeta(home: string, name: string): Promise<PackageMeta | undefined> {
  const { packageMeta = {} } = await storeOf(home).read();
  return Object.hasOwn(packageMeta, name) ? packageMeta[name] : undefined;
}

/** What nobody here knows stays in the file as it is. */
export async function register(
  home: string,
  kind: PackageKind,
  name: string,
  uri: string,
  meta: PackageMeta,
): Promise<void> {
  await storeOf(home).update((config) => {
    const other = kind === 'app' ? 'tools' : 'apps';
    return {
      ...config,
      [SECTION[kind]]: { ...config[SECTION[kind]], [name]: uri },
      ...(config[other] !== undefined && { [other]: without(config[other], name) }),
      packageMeta: { ...config.packageMeta, [name]: { ...meta, kind } },
    };
  });
}

export async function unregister(home: string, name: string): Promise<void> {
  await storeOf(home).update((config) => ({
    ...config,
    ...(config.apps !== undefined && { apps: without(config.apps, name) }),
    ...(config.tools !== undefined && { tools: without(config.tools, name) }),
    ...(config.packageMeta !== undefined && { packageMeta: without(config.packageMeta, name) }),
  }));
}

/** Made ready beside the old one, then put in its place. The address of its first page. */
export function placeFiles(home: string, name: string, files: PackageFiles): string {
  const target = folderOfPackage(home, name);
  makeFolders(dirname(target));
  const staged = mkdtempSync(join(dirname(target), `.${name}.tmp-`));
  const old = `${staged}.old`;
  try {
    for (const [path, { data, executable }] of files.entries()) {
      const file = join(staged, path);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, data, { mode: executable ? 0o700 : 0o600, flag: 'wx' });
    }
    const replaces = existsSync(target);
    if (replaces) renameSync(target, old);
    try {
      renameSync(staged, target);
    } catch (thrown) {
      if (replaces) renameSync(old, target);
      throw thrown;
    }
  } finally {
    for (const folder of [staged, old]) rmSync(folder, { recursive: true, force: true });
  }
  return pathToFileURL(join(target, MAIN)).href;
}

export function removeFiles(home: string, name: string): void {
  rmSync(folderOfPackage(home, name), { recursive: true, force: true });
}

function storeOf(home: string): JsonStore<Config> {
  return new JsonStore({
    path: join(home, 'config.json'),
    schema: Config,
    initial: () => ({}),
    maxBytes: MAX_REGISTRY_BYTES,
  });
}

function without<T>(record: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));
}
