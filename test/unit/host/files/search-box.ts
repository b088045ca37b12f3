// A search in a sandbox, in short.

import { searchFiles, type SearchOptions, type SearchResult } from '../../../../src/host/files/search.js';
import type { Sandbox } from './sandbox.js';

export type Asked = Omit<SearchOptions, 'query'> & { regex?: boolean; caseSensitive?: boolean; in?: string };

export async function search(box: Sandbox, text: string, asked: Asked = {}): Promise<SearchResult> {
  const { regex = false, caseSensitive = true, in: path = '', ...options } = asked;
  return await searchFiles(box.set, box.at(path), { query: { text, regex, caseSensitive }, ...options });
}

export async function found(box: Sandbox, text: string, asked: Asked = {}): Promise<string[]> {
  const { matches } = await search(box, text, asked);
  return matches.map(({ path, line, column }) => `${path.slice(box.root.length + 1)}:${line}:${column}`);
}
