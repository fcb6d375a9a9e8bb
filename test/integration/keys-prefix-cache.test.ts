// Whose cached prompts a key uses, at a whole replica: what another key learns from the cached tokens of its own answers.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type OpenAI from 'openai';
import { eventually } from '../processes.js';
import { complete, entry, Folders, ofKey, type Line } from './keyed-replica.js';
import type { ReplicaProcess } from './replica-process.js';

jest.setTimeout(180_000);

describe('the prefix cache', () => {
  let folders: Folders;
  let replica: ReplicaProcess;
  beforeAll(async () => {
    const group = { cacheGroup: 'search' };
    folders = new Folders([entry('victim'), entry('spy'), entry('one', group), entry('two', group)]);
    replica = await folders.start();
    await replica.ready();
  });
  afterAll(async () => {
    await replica.stop();
    folders.remove();
  });

  /** What three requests with the same prompt get for cached tokens: the cache keeps the state of a prompt at its second. */
  async function cached(key: string, prompt: string, fields: object = {}): Promise<number[]> {
    const reported: number[] = [];
    while (reported.length < 3) {
      const response = await complete(replica, key, { prompt, max_tokens: 1, ...fields });
      const { usage } = (await response.json()) as { usage: OpenAI.CompletionUsage };
      reported.push(usage.prompt_tokens_details?.cached_tokens ?? 0);
    }
    return reported;
  }

  const secret = 'The code of the safe is one two three. '.repeat(40);

  test('reveals no key another’s prompts, and each its own', async () => {
    const own = await cached('victim', secret);
    expect(own.at(-1)).toBeGreaterThan(100);
    const [first] = await cached('spy', secret);
    expect(first).toBe(0);
    expect(await ofKey(replica, 'cached_tokens_total', 'victim')).toBeGreaterThan(0);
    const [longer] = await cached('spy', `${secret}And more.`, { cache_salt: 'guess' });
    expect(longer).toBe(0);
    // A salt that spells the other's tenant is still one within the own.
    const [forged] = await cached('spy', secret, { cache_salt: 'key victim' });
    expect(forged).toBe(0);
    const ofSpy = (): Line[] => folders.lines.filter(({ key }) => key === 'spy');
    await eventually('the lines of all nine requests', () => ofSpy().length === 9);
    const hits = ofSpy().map(({ cachedTokens }) => cachedTokens);
    expect(hits.filter((_, i) => i % 3 === 0)).toEqual([0, 0, 0]);
  });

  test('is shared within a group, unless a request has a salt of its own', async () => {
    const prompt = `A group asks. ${secret}`;
    await cached('one', prompt);
    const [shared] = await cached('two', prompt);
    expect(shared).toBeGreaterThan(100);
    const [salted] = await cached('two', prompt, { cache_salt: 'mine' });
    expect(salted).toBe(0);
  });
});
