import { expect, test } from '@jest/globals';
import { LongTexts } from './long-texts.js';

test('a worker that cannot start fails what waits for it, and nothing else', async () => {
  const texts = new LongTexts('no tokenizer');
  const waiting = [texts.encode('a', true), texts.encode('b', true)];
  for (const { status } of await Promise.allSettled(waiting)) expect(status).toBe('rejected');
  await expect(texts.encode('c', true)).rejects.toThrow();
  await texts.close();
});
