// Prompts that one engine computes for another. The step models check that what is fetched is what the sequence itself
// would have computed.

import { describe, expect, test } from '@jest/globals';
import { asking, hybrid, text, World } from './cache-world.fixture.js';
import { generateRequest } from './generate-request.fixture.js';
import type { GenerateRequest } from './generation.js';
import type { FillRoom, OfferedPrompt } from './prompt-share.js';
import type { SchedulerLimits } from './scheduler.js';
import { limits } from './workload.fixture.js';

/** Two engines alike. */
function pair(changes: Partial<SchedulerLimits> = {}, base = limits) {
  return { prefill: new World(changes, base), decode: new World(changes, base) };
}

function compute(prefill: World, request: GenerateRequest, from: number): OfferedPrompt {
  prefill.ask({ ...request, id: `${request.id} for another`, maxTokens: 1 });
  return prefill.scheduler.prompts.offer(request, from);
}

/** Has it computed by the one and fetched by the other; the other's tokens that were there or came. */
function bring({ prefill, decode }: ReturnType<typeof pair>, request: GenerateRequest): void {
  const expected = decode.scheduler.prompts.expect(request);
  const offered = compute(prefill, request, expected.blocks);
  const room = decode.scheduler.prompts.reserve(offered.blocks.length)!;
  fetch({ prefill, decode }, offered, room);
  decode.scheduler.prompts.fill(expected, room);
  prefill.scheduler.prompts.endOffer(offered);
}

function fetch({ prefill, decode }: ReturnType<typeof pair>, offered: OfferedPrompt, room: FillRoom): void {
  decode.model.fetch(prefill.model, offered, { ...room, snapshot: room.snapshot?.index ?? null });
}

const idle = { blocksUsed: 0, running: 0 };

describe.each([
  ['attention alone', limits, 16],
  ['recurrent state', hybrid, 64],
])('an engine with %s', (_, base, unit) => {
  test('continues behind what another computed, with the same tokens', () => {
    const both = pair({}, base);
    const asked = asking(text('a', 200));
    bring(both, asked);
    expect(both.decode.ask(asked)).toBe(Math.floor(199 / unit) * unit);
    expect(both.decode.scheduler.stats).toMatchObject(idle);
    expect(both.prefill.scheduler.stats).toMatchObject(idle);
  });

  test('fetches no block that it has', () => {
    const both = pair({}, base);
    const first = text('a', 128);
    both.decode.ask(asking([...first, ...text('b', 10)]));
    const asked = asking([...first, ...text('c', 150)]);
    const expected = both.decode.scheduler.prompts.expect(asked);
    expect(expected.blocks).toBe(8);
    const offered = compute(both.prefill, asked, expected.blocks);
    expect(offered.tokens).toBe(Math.floor(277 / unit) * unit);
    expect(offered.blocks).toHaveLength(offered.tokens / 16 - 8);
    const room = both.decode.scheduler.prompts.reserve(offered.blocks.length)!;
    fetch(both, offered, room);
    both.decode.scheduler.prompts.fill(expected, room);
    expect(both.decode.ask(asked)).toBe(offered.tokens);
  });

  test('finds nothing of what has not come, and has all of it free again', () => {
    const { decode } = pair({}, base);
    const { prompts } = decode.scheduler;
    const asked = asking(text('a', 200));
    const expected = prompts.expect(asked);
    const room = prompts.reserve(12)!;
    expect(decode.scheduler.stats.blocksUsed).toBe(12);
    expect(decode.ask(asking(text('a', 200)))).toBe(0);
    prompts.giveUp(expected, room);
    expect(decode.scheduler.stats).toMatchObject(idle);
    for (let i = 0; i < 20; i++) prompts.giveUp(prompts.expect(asking(text('b', 200))), prompts.reserve(12));
    expect(decode.scheduler.stats).toMatchObject(idle);
  });

  test('keeps its own block where it computed the same meanwhile', () => {
    const both = pair({}, base);
    const asked = asking(text('a', 200));
    const expected = both.decode.scheduler.prompts.expect(asked);
    const offered = compute(both.prefill, asked, 0);
    const room = both.decode.scheduler.prompts.reserve(offered.blocks.length)!;
    both.decode.ask(asking(text('a', 200)));
    const { blocksCached, snapshotsKept } = both.decode.scheduler.stats;
    fetch(both, offered, room);
    both.decode.scheduler.prompts.fill(expected, room);
    expect(both.decode.scheduler.stats).toMatchObject({ ...idle, blocksCached, snapshotsKept });
  });

  test('keeps what it offers, whatever else comes, and no longer', () => {
    const both = pair({}, base);
    const asked = asking(text('a', 200));
    const offered = compute(both.prefill, asked, 0);
    for (let i = 0; i < 10; i++) both.prefill.ask(asking(text(`other ${String(i)}`, 300)));
    const room = both.decode.scheduler.prompts.reserve(offered.blocks.length)!;
    const expected = both.decode.scheduler.prompts.expect(asked);
    fetch(both, offered, room);
    both.decode.scheduler.prompts.fill(expected, room);
    expect(both.decode.ask(asked)).toBe(offered.tokens);
    expect(both.prefill.scheduler.stats.blocksUsed).toBe(offered.blocks.length);
    both.prefill.scheduler.prompts.endOffer(offered);
    for (let i = 0; i < 10; i++) both.prefill.ask(asking(text(`more ${String(i)}`, 300)));
    expect(both.prefill.ask(asking(text('a', 200)))).toBe(0);
  });

  test('does not find after a flush what was on its way before', () => {
    const both = pair({}, base);
    const asked = asking(text('a', 200));
    const expected = both.decode.scheduler.prompts.expect(asked);
    const offered = compute(both.prefill, asked, 0);
    const room = both.decode.scheduler.prompts.reserve(offered.blocks.length)!;
    both.decode.scheduler.flushCache();
    fetch(both, offered, room);
    both.decode.scheduler.prompts.fill(expected, room);
    expect(both.decode.scheduler.stats).toMatchObject({ ...idle, blocksCached: 0, snapshotsKept: 0 });
    expect(both.decode.ask(asked)).toBe(0);
  });
});

test('room for what comes is none that running sequences need', () => {
  const world = new World({ numBlocks: 20 });
  expect(world.scheduler.prompts.reserve(21)).toBeNull();
  world.scheduler.add(asking(text('a', 40)));
  world.step();
  expect(world.scheduler.prompts.reserve(17)).toBeNull();
  expect(world.scheduler.prompts.reserve(16)!.blocks).toHaveLength(16);
});

test('the tokens that another computed are no hits of the cache', () => {
  const both = pair();
  const asked = asking(text('a', 200));
  bring(both, asked);
  both.decode.scheduler.add(asked, Infinity, null, 32);
  expect(both.decode.step()).toEqual(new Map([[asked.id, 32]]));
  expect(both.decode.scheduler.stats.prefixCacheHitsTotal).toBe(32);
});

test('an engine that has no use for a prefix has no other compute it', () => {
  for (const changes of [{ prefixCaching: false }, { hybrid: true, numStateSnapshots: 0 }])
    expect(new World(changes).scheduler.prompts.lacking(asking(text('a', 300)))).toBe(0);
});

test.each<[string, Partial<GenerateRequest>]>([
  ['an embedding', { pooling: 'last', maxTokens: 0 }],
  ['scores of the prompt', { promptLogprobs: true }],
  ['an adapter', { adapter: { number: 0, key: 'a' } }],
  ['a prompt that leaves no room', { prompt: new Int32Array(limits.maxModelLen) }],
])('no other engine computes %s', (_, changes) => {
  const { prompts } = new World().scheduler;
  expect(prompts.lacking(generateRequest('a', text('a', 300)))).toBe(300);
  expect(prompts.lacking(generateRequest('a', text('a', 300), changes))).toBe(0);
});

test('hundreds of prompts that come, or are given up, leave nothing behind', () => {
  const both = pair({ numBlocks: 48 }, hybrid);
  const { prompts } = both.decode.scheduler;
  const open: (() => void)[] = [];
  let found = 0;
  for (let i = 0; i < 500; i++) {
    const asked = asking([...text(`head ${String(i % 7)}`, 96), ...text(String(i % 11), 40 + (i % 50))]);
    const expected = prompts.expect(asked);
    const offered = compute(both.prefill, asked, expected.blocks);
    const room = prompts.reserve(offered.blocks.length)!;
    open.push(() => {
      if (i % 5 === 0) {
        prompts.giveUp(expected, room);
      } else {
        fetch(both, offered, room);
        prompts.fill(expected, room);
      }
      both.prefill.scheduler.prompts.endOffer(offered);
      const cached = both.decode.ask({ ...asked, id: `${asked.id} again` });
      if (i % 5 > 0 && cached === offered.tokens) found++;
    });
    if (i % 3 > 0) open.shift()!();
    if (open.length > 1) open.shift()!();
  }
  for (const end of open) end();
  expect(found).toBeGreaterThan(300);
  expect(both.decode.scheduler.stats).toMatchObject(idle);
  expect(both.prefill.scheduler.stats).toMatchObject(idle);
});
