// The YAML parser by itself, so that it is loaded by the first file that is read and not by the start.

import { type Document, parseDocument } from 'yaml';

export function parseText(text: string): Document {
  return parseDocument(text, { prettyErrors: true, logLevel: 'silent' });
}
