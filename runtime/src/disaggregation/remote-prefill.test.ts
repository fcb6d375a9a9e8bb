// A decode pod and its prefill pods, each a scheduler with the model that runs its steps; what goes wrong between them.

import { beforeEach, expect, test } from '@jest/globals';
import { asking, text, World } from '../schedule/cache-world.fixture.js';
import type { GenerateRequest } from '../schedule/generation.js';
import { TransferFailed } from '../schedule/kv-transfer.js';
import type { OfferedPrompt } from '../schedule/prompt-share.js';
import type { PrefillAnswer, PrefillAsk } from './prefill-ask.js';
import { PrefillFailed } from './prefill-failed.js';
import { PrefillPods } from './prefill-pods.js';
import { RemotePrefill } from './remote-prefill.js';
import { TransferCounts } from './transfer-counts.js';

const signal = new AbortController().signal;
const idle = { blocksUsed: 0, running: 0 };

let decode: World;
let prefill: World;
let now: number;
let asks: { readonly pod: string; readonly ask: PrefillAsk }[];
let ended: string[];
let offered: Map<string, OfferedPrompt>;
let counts: TransferCounts;
let remote: RemotePrefill;
let addresses: string[];
let order: string[];
/** What pods do instead of answering, and transfers instead of filling. */
let onAsk: (pod: string) => Promise<void>;
let onFetch: () => Promise<void>;
let change: Partial<PrefillAnswer>;

beforeEach(() => {
  decode = new World({ numBlocks: 40 });
  prefill = new World();
  now = 0;
  [asks, ended, order] = [[], [], []];
  offered = new Map();
  counts = new TransferCounts();
  addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  onAsk = async () => Promise.resolve();
  onFetch = async () => Promise.resolve();
  change = {};
  remote = new RemotePrefill({
    prompts: decode.scheduler.prompts,
    transfer: {
      layout: 'the same',
      offer: async () => Promise.resolve(),
      withdraw: async () => Promise.resolve(),
      fetch: async ({ ticket }, blocks, snapshot) => {
        order.push('fetch');
        await onFetch();
        decode.model.fetch(prefill.model, offered.get(ticket)!, { blocks, snapshot });
        return { bytes: 100 * blocks.length, snapshotAt: null };
      },
    },
    pods: new PrefillPods(
      () => addresses,
      () => now,
    ),
    counts,
    ...{ port: 8030, minTokens: 64, blockSize: 16 },
    ask: async ({ host }, ask) => {
      asks.push({ pod: host, ask });
      await onAsk(host);
      return { ...compute(ask), ...change };
    },
    endTicket: async (_, ticket) => {
      await Promise.resolve();
      ended.push(ticket);
      prefill.scheduler.prompts.endOffer(offered.get(ticket)!);
    },
    settled: async () => {
      order.push('settled');
      await Promise.resolve();
    },
    released: () => order.push('released'),
    now: () => now,
  });
});

function compute({ prompt, from }: PrefillAsk): PrefillAnswer {
  const request = asking([...prompt], { maxTokens: 1 });
  const cachedTokens = prefill.ask(request);
  const offer = prefill.scheduler.prompts.offer(request, from);
  const ticket = `ticket ${request.id}`;
  offered.set(ticket, offer);
  const { blocks, tokens } = offer;
  return { ticket, port: 8040, blocks: blocks.length, snapshot: false, tokens, cachedTokens };
}

const long = (): GenerateRequest => asking(text('a', 200));
const fallbacks = (): Record<string, number> =>
  Object.fromEntries(Object.entries(counts.stats.fallbacksTotal).filter(([, count]) => count > 0));

test('a long prompt is computed elsewhere, and its answer is the same', async () => {
  const request = long();
  expect(remote.wants(request)).toBe(true);
  expect(await remote.bring(request, signal)).toBe(0);
  expect(decode.ask(request)).toBe(192);
  expect(counts.stats).toMatchObject({ promptsTotal: 1, tokensTotal: 192, bytesTotal: 1200 });
  expect(order).toEqual(['settled', 'fetch', 'released']);
  await new Promise(setImmediate);
  expect(ended).toHaveLength(1);
  expect([decode.scheduler.stats, prefill.scheduler.stats]).toMatchObject([idle, idle]);
});

test('of what is cached here, only the rest is asked for, and short rests not at all', async () => {
  decode.ask(asking(text('a', 100)));
  const request = long();
  await remote.bring(request, signal);
  expect(asks[0]!.ask.from).toBe(6);
  expect(counts.stats.tokensTotal).toBe(192 - 96);
  expect(remote.wants(asking([...text('a', 200), ...text('b', 55)]))).toBe(false);
  expect(remote.wants(asking([...text('a', 200), ...text('b', 56)]))).toBe(true);
});

test('tokens that the prefill pod had not to compute either are those that were cached', async () => {
  prefill.ask(asking(text('a', 130)));
  expect(await remote.bring(long(), signal)).toBe(128);
});

test('the turns of a conversation go to one pod', async () => {
  await remote.bring(long(), signal);
  await remote.bring(asking([...text('a', 200), ...text('b', 90)]), signal);
  expect(asks[1]!.pod).toBe(asks[0]!.pod);
});

test('a request says for how long it may wait there', async () => {
  await remote.bring(asking(text('a', 200), { maxQueueMs: 300, priority: 2, fairnessKey: 'k' }), signal);
  await remote.bring(asking(text('b', 200)), signal);
  expect(asks[0]!.ask).toMatchObject({ maxQueueMs: 300, priority: 2, fairnessKey: 'k' });
  expect(asks[1]!.ask).toMatchObject({ maxQueueMs: 5_000, layout: 'the same' });
});

test('where a pod fails another is asked, and two at most', async () => {
  const tried: string[] = [];
  onAsk = async (pod) => {
    tried.push(pod);
    await Promise.resolve();
    if (tried.length === 1) throw new PrefillFailed('timedOut', 'silent');
  };
  expect(await remote.bring(long(), signal)).not.toBeNull();
  expect(new Set(tried).size).toBe(2);
  onAsk = () => Promise.reject(new PrefillFailed('unreachable', 'gone'));
  const before = asks.length;
  now += 1_000;
  expect(await remote.bring(asking(text('b', 200)), signal)).toBeNull();
  expect(asks.length - before).toBe(2);
  expect(fallbacks()).toEqual({ unreachable: 1 });
});

test.each<[string, () => void, string]>([
  ['no pod is known', () => (addresses = []), 'noPod'],
  ['pods take no more', () => (onAsk = () => Promise.reject(new PrefillFailed('busy', ''))), 'busy'],
  ['there is no room here', () => void decode.scheduler.prompts.reserve(35), 'noRoom'],
  [
    'the transfer fails',
    () => (onFetch = () => Promise.reject(new TransferFailed('corrupt', ''))),
    'corrupt',
  ],
  ['the pod has nothing', () => (change = { blocks: 0, tokens: 0 }), 'nothing'],
  ['the pod counts wrong', () => (change = { blocks: 11 }), 'badAnswer'],
  ['the pod has more than the prompt', () => (change = { blocks: 13, tokens: 208 }), 'badAnswer'],
  ['the pod has a state that nobody has', () => (change = { snapshot: true }), 'badAnswer'],
  ['something is wrong here', () => (onFetch = () => Promise.reject(new Error('oh'))), 'internal'],
])('where %s the prompt is computed here', async (_, arrange, reason) => {
  arrange();
  const used = decode.scheduler.stats.blocksUsed;
  const request = long();
  expect(await remote.bring(request, signal)).toBeNull();
  expect(fallbacks()).toEqual({ [reason]: 1 });
  expect(decode.scheduler.stats.blocksUsed).toBe(used);
  await new Promise(setImmediate);
  expect(prefill.scheduler.stats).toMatchObject(idle);
  if (used === 0) expect(decode.ask(request)).toBe(0);
});

test('a pod whose transfer failed is left alone for a while', async () => {
  addresses = ['10.0.0.1'];
  onFetch = () => Promise.reject(new TransferFailed('unreachable', ''));
  await remote.bring(long(), signal);
  await remote.bring(long(), signal);
  expect(fallbacks()).toEqual({ unreachable: 1, noPod: 1 });
  expect(asks).toHaveLength(1);
});

test.each<[string, PrefillFailed['reason'], number | null, boolean]>([
  ['does not compute a prompt', 'refused', null, true],
  ['is busy for longer than a client waits', 'busy', 20, true],
  ['is busy for longer than anybody waits', 'busy', null, false],
])('a pod that %s is asked for others at once: %s, %s, %s', async (_, reason, maxQueueMs, atOnce) => {
  addresses = ['10.0.0.1'];
  onAsk = () => Promise.reject(new PrefillFailed(reason, ''));
  await remote.bring(asking(text('a', 200), { maxQueueMs }), signal);
  onAsk = async () => Promise.resolve();
  expect((await remote.bring(asking(text('b', 200)), signal)) !== null).toBe(atOnce);
});

test.each(['ask', 'fetch'])('whoever goes during the %s leaves nothing behind', async (during) => {
  const asker = new AbortController();
  const leave = async (): Promise<void> => {
    await Promise.resolve();
    asker.abort();
    throw new Error('aborted');
  };
  if (during === 'ask') onAsk = leave;
  else onFetch = leave;
  expect(await remote.bring(long(), asker.signal)).toBeNull();
  expect(asks).toHaveLength(1);
  await new Promise(setImmediate);
  expect(fallbacks()).toEqual({});
  expect([decode.scheduler.stats, prefill.scheduler.stats]).toMatchObject([idle, idle]);
  // It is no fault of the pod.
  onAsk = onFetch = async () => Promise.resolve();
  await remote.bring(long(), signal);
  expect(asks[1]!.pod).toBe(asks[0]!.pod);
});
