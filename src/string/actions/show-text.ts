// Text that came from somewhere else, as it is shown: data, in which nothing is included, run or loaded.

import type { Scene } from './scene.js';

export async function showText(_scene: Scene, text: string, _type?: string): Promise<string> {
  return await Promise.resolve(text);
}
