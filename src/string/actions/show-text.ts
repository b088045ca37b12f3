// Text that came from somewhere else, as it is shown: data, in which nothing is included, run or loaded.

import { renderData } from '../document/render.js';
import { htmlToMarkdown } from '../web/html-to-markdown.js';
import type { Scene } from './scene.js';

/** HTML becomes Markdown, JSON stays as it is, and links get names that `/open @name` knows. */
export async function showText({ call }: Scene, text: string, type = 'text/markdown'): Promise<string> {
  if (/json|xml(?!\+?html)/iu.test(type) && !/xhtml/iu.test(type)) return text;
  const { shortcuts } = call.session;
  const readable = /html/iu.test(type) ? await htmlToMarkdown(text) : text;
  const { text: shown, auto } = renderData(readable, shortcuts);
  if (auto.size > 0) shortcuts.mergeAuto(auto);
  return shown;
}
