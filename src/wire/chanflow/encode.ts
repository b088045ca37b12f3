// A ChanFlow block. Nothing in its body can pass for a tag: a page or an event shall not speak for another topic.

import { CLOSE_TAG, OPEN_TAG_START } from './tag.js';

const PLAIN_VALUE = /^[A-Za-z][\w-]*$/u;
const LEADING_OPEN = new RegExp(`^(\\s*)${OPEN_TAG_START}`, 'gmu');

/** `topic` goes into the tag as it is: it must be one that a tag can hold (no blank, no `>`). */
export function encodeBlock(
  channel: string,
  topic: string,
  body: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  const list = Object.entries(attributes).map(([key, value]) => ` ${key}=${spellValue(value)}`);
  return `<𝒞=${channel}:${topic}${list.join('')}>\n${neutralise(body)}\n${CLOSE_TAG}`;
}

/** `</𝒞>` becomes `<\/𝒞>` wherever it stands, `<𝒞=` at the beginning of a line `<\𝒞=`. */
export function neutralise(body: string): string {
  if (!body.includes('𝒞')) return body;
  return body.replaceAll(CLOSE_TAG, '<\\/𝒞>').replaceAll(LEADING_OPEN, '$1<\\𝒞=');
}

function spellValue(value: string): string {
  return PLAIN_VALUE.test(value) ? value : `"${value.replaceAll(/["<>\r\n]/gu, '')}"`;
}
