// Where a command really runs, and which commands wait for nobody.

import { expect, test } from 'vitest';
import { skipsTheQueue, targetOf } from '../../../src/string/redirect.js';
import { topicOf } from './place.js';

const SHELL = 'bash:dev';

test('whose turn it is', () => {
  const names = (topic: string, cmd: string): string => targetOf(topicOf(topic), cmd).name;
  expect(names('main', '/open bash:dev')).toBe('bash:dev');
  expect(names('main', ' /OPEN  app:x:y ')).toBe('app:x:y');
  expect(names('main', '/open app:x#block')).toBe('app:x');
  expect(names('bash:a', '/open app')).toBe('bash:a');
  expect(names('main', '/open event')).toBe('event');
  for (const cmd of ['/open app:', '/open apps', '/open ./app', '/info app', 'open app', '/open app:a/b'])
    expect(names('main', cmd), cmd).toBe('main');
  for (const cmd of ['//interrupt', ' //send x', '//tail', '//info', '//close'])
    expect(skipsTheQueue(topicOf(SHELL), cmd), cmd).toBe(true);
  for (const cmd of ['/interrupt', 'sleep 1', '//set x = 1', '//nope'])
    expect(skipsTheQueue(topicOf(SHELL), cmd), cmd).toBe(false);
  expect(skipsTheQueue(topicOf('main'), '//info')).toBe(false);
});
