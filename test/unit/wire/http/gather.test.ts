import { expect, test } from 'vitest';
import { gather } from '../../../../src/wire/http/gather.js';

test('those of one turn go on together, in their order, and after whatever else the turn brought', async () => {
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    gather(() => told.push('first'));
    process.nextTick(() => told.push('rest of the turn'));
    gather(() => told.push('second'));
    gather(resolve);
  });
  expect(told).toEqual(['rest of the turn', 'first', 'second']);
});

test('whoever comes while the others are called goes with the next', async () => {
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    gather(() => {
      told.push('first');
      gather(() => {
        told.push('third');
        resolve();
      });
    });
    gather(() => told.push('second'));
  });
  expect(told).toEqual(['first', 'second', 'third']);
});
