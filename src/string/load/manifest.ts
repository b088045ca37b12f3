// A manifest: files that belong together, told by one address. Who reads it finds them by their paths, as in a folder.

import * as z from 'zod/mini';

const Manifest = z.object({
  files: z.array(
    z.object({ path: z.string(), content: z.optional(z.string()), url: z.optional(z.string()) }),
  ),
  install_hint: z.optional(z.string()),
});

export type Manifest = z.infer<typeof Manifest>;

/** Undefined for other JSON, and for what is none. */
export function parseManifest(text: string): Manifest | undefined {
  try {
    return Manifest.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // no JSON, whatever it said
  }
}

/** The file that would be at `url` if the manifest was the folder that it stands for. */
export function findEntry(
  { files }: Manifest,
  manifestUrl: string,
  url: string,
): Manifest['files'][number] | undefined {
  const [base, asked] = [new URL(manifestUrl), new URL(url)];
  if (base.origin !== asked.origin || asked.search !== '') return undefined;
  const folder = base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1);
  if (!asked.pathname.startsWith(folder)) return undefined;
  const path = decode(asked.pathname.slice(folder.length));
  const wanted = path === '' || path.endsWith('/') ? `${path}string.md` : path;
  return files.find((file) => file.path.replace(/^(?:\.\/)+/u, '') === wanted);
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
