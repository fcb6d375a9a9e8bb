// Sampling and output fields, asked of whole replicas with and without drafts: what a field promises holds, and drafts
// change nothing of it.

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

interface Choice {
  readonly index: number;
  readonly text: string;
  readonly token_ids: number[];
  readonly prompt_token_ids: number[];
  readonly finish_reason: string;
  readonly prompt_logprobs: (Record<string, { readonly logprob: number; readonly rank: number }> | null)[];
  readonly logprobs: {
    readonly tokens: string[];
    readonly token_logprobs: (number | null)[];
    readonly text_offset: number[];
    readonly top_logprobs: Record<string, number>[];
  };
}
interface Answer {
  readonly choices: Choice[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly error?: { readonly code: string; readonly message: string };
}

const replicas = {} as Record<'plain' | 'drafting', ReplicaProcess>;
beforeAll(async () => {
  replicas.plain = await ReplicaProcess.start({ uri: demoCheckpoint });
  replicas.drafting = await ReplicaProcess.start({
    uri: demoCheckpoint,
    engine: { speculative: { method: 'mtp', tokens: 3 } },
  });
  await Promise.all(Object.values(replicas).map((each) => each.ready()));
});
afterAll(() => Promise.all(Object.values(replicas).map((each) => each.stop())));

const hot = { prompt: 'A pod is', max_tokens: 24, temperature: 1.3, seed: 5, return_token_ids: true };

async function askOne(replica: ReplicaProcess, body: object): Promise<Answer> {
  return (await (await replica.post('/v1/completions', { ...hot, ...body })).json()) as Answer;
}

/** The answer without drafts, after the one with drafts was found the same. */
async function ask(body: object): Promise<Answer> {
  const plain = await askOne(replicas.plain, body);
  const drafting = await askOne(replicas.drafting, body);
  expect(drafting.choices.map(({ token_ids, finish_reason }) => [token_ids, finish_reason])).toEqual(
    plain.choices.map(({ token_ids, finish_reason }) => [token_ids, finish_reason]),
  );
  return plain;
}

const idsOf = ({ choices }: Answer): number[] => choices[0]!.token_ids;

/** Tokens that the prefix cache was asked for and had, of all requests so far. */
async function cacheHits(): Promise<number> {
  const text = await (await fetch(`${replicas.plain.url}/metrics`)).text();
  return Number(/^vllm:prefix_cache_hits_total\S* (\S+)$/m.exec(text)?.[1]);
}

describe('n', () => {
  test('gives answers that differ, of which the first is the one that is given alone', async () => {
    const alone = await ask({});
    const four = await ask({ n: 4 });
    expect(four.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(four.choices[0]!.text).toBe(alone.choices[0]!.text);
    expect(new Set(four.choices.map(({ text }) => text)).size).toBe(4);
    expect((await ask({ n: 2 })).choices.map(({ text }) => text)).toEqual(
      four.choices.slice(0, 2).map(({ text }) => text),
    );
    expect(four.usage.prompt_tokens).toBe(alone.usage.prompt_tokens);
  });

  test('computes a prompt once', async () => {
    const prompt = Array.from({ length: 200 }, (_, i) => 40 + ((i * 7) % 90));
    const before = await cacheHits();
    await askOne(replicas.plain, { prompt, n: 5 });
    // Of each other choice all whole chunks of 64 tokens.
    expect((await cacheHits()) - before).toBe(4 * 192);
  });

  test('best_of gives the likeliest of the same answers', async () => {
    const all = await askOne(replicas.plain, { n: 5, logprobs: 0 });
    const mean = ({ logprobs }: Choice): number =>
      logprobs.token_logprobs.reduce<number>((sum, each) => sum + each!, 0) / logprobs.token_logprobs.length;
    const ranked = all.choices.toSorted((a, b) => mean(b) - mean(a)).map(({ text }) => text);
    const best = await ask({ n: 2, best_of: 5 });
    expect(best.choices.map(({ text }) => text)).toEqual(ranked.slice(0, 2));
    expect(best.usage.completion_tokens).toBe(all.usage.completion_tokens);
  });
});

describe('rules of single tokens', () => {
  test('allowed_token_ids are all that comes, in chat and :predict too', async () => {
    const allowed = [65, 66, 67, 300, 301];
    const ids = idsOf(await ask({ allowed_token_ids: allowed }));
    expect(ids).toHaveLength(24);
    expect(ids.filter((id) => !allowed.includes(id))).toEqual([]);
    const body = { messages: [{ role: 'user', content: 'x' }], max_tokens: 9, allowed_token_ids: [ids[0]] };
    const chat = (await (
      await replicas.plain.post('/v1/chat/completions', { ...body, return_token_ids: true })
    ).json()) as Answer;
    expect(chat.choices[0]!.token_ids).toEqual(Array.from({ length: 9 }, () => ids[0]));
    const predicted = (await (await replicas.plain.post('/v1/models/demo:predict', body)).json()) as {
      completion_tokens: number;
    };
    expect(predicted.completion_tokens).toBe(9);
  });

  test('logit_bias of 100 makes a token come, of -100 makes it stay away', async () => {
    expect(new Set(idsOf(await ask({ logit_bias: { '77': 100 } })))).toEqual(new Set([77]));
    const first = idsOf(await ask({ temperature: 0 }))[0]!;
    const without = idsOf(await ask({ temperature: 0, logit_bias: { [String(first)]: -100 } }));
    expect(without).not.toContain(first);
  });

  test('bad_words do not come', async () => {
    const text = (await ask({ temperature: 0 })).choices[0]!.text;
    const word = /[A-Za-z]{3,}/.exec(text)![0];
    const clean = (await ask({ temperature: 0, bad_words: [word] })).choices[0]!.text;
    expect(clean).not.toBe(text);
  });

  test('min_tokens keeps stop ids and stop strings away until then', async () => {
    const free = await ask({});
    const stop = idsOf(free)[3]!;
    expect(idsOf(await ask({ stop_token_ids: [stop] }))).toHaveLength(idsOf(free).indexOf(stop) + 1);
    const waited = idsOf(await ask({ stop_token_ids: [stop], min_tokens: 12 }));
    expect(waited.slice(0, 12)).not.toContain(stop);
    const letters = { stop: ['a', 'e', 'i', 'o', 'u', ' '] };
    const [short, long] = [await ask(letters), await ask({ ...letters, min_tokens: 12 })];
    expect(short.usage.completion_tokens).toBeLessThan(12);
    expect(long.usage.completion_tokens).toBeGreaterThan(12);
  });

  test('typical_p changes what is drawn, and nothing where it is 1', async () => {
    const free = idsOf(await ask({}));
    expect(idsOf(await ask({ typical_p: 1 }))).toEqual(free);
    expect(idsOf(await ask({ typical_p: 0.2 }))).not.toEqual(free);
  });

  test('that leave no token end their request with 400', async () => {
    const { error } = await askOne(replicas.drafting, {
      allowed_token_ids: [77],
      stop_token_ids: [77],
      min_tokens: 2,
    });
    expect(error).toMatchObject({
      code: 'GrammarInvalid',
      message: expect.stringContaining('leave no token'),
    });
  });
});

describe('log probabilities of named tokens', () => {
  test('are those that the likeliest have, of an answer with drafts too', async () => {
    const asked = { logprobs: 3, return_tokens_as_token_ids: true };
    const likeliest = (await ask(asked)).choices[0]!.logprobs.top_logprobs;
    const names = Object.keys(likeliest[0]!);
    const logprob_token_ids = names.map((name) => Number(name.slice('token_id:'.length)));
    for (const replica of Object.values(replicas)) {
      const { choices } = await askOne(replica, { ...asked, logprobs: 0, logprob_token_ids });
      const named = choices[0]!.logprobs.top_logprobs;
      expect(named).toHaveLength(likeliest.length);
      expect(named[0]).toEqual(likeliest[0]);
      named.forEach((each, i) => {
        expect(Object.keys(each)).toEqual(expect.arrayContaining(names));
        for (const [name, logprob] of Object.entries(each))
          if (name in likeliest[i]!) expect(logprob).toBeCloseTo(likeliest[i]![name]!, 4);
      });
    }
  });
});

describe('log probabilities of the prompt', () => {
  test('are those with which the same tokens were generated', async () => {
    const said = (await ask({ logprobs: 0, max_tokens: 40, ignore_eos: true })).choices[0]!;
    const prompt = [...said.prompt_token_ids, ...said.token_ids];
    const echoed = (await ask({ prompt, echo: true, logprobs: 0, max_tokens: 1, ignore_eos: true }))
      .choices[0]!;
    expect(echoed.text.startsWith(`A pod is${said.text}`)).toBe(true);
    expect(echoed.logprobs.token_logprobs).toHaveLength(prompt.length + 1);
    expect(echoed.logprobs.token_logprobs[0]).toBeNull();
    const scored = echoed.logprobs.token_logprobs.slice(said.prompt_token_ids.length);
    said.logprobs.token_logprobs.forEach((logprob, i) => expect(scored[i]).toBeCloseTo(logprob!, 1));
  });

  test('are the same once the prompt is cached, and with other answers alongside it', async () => {
    const prompt = Array.from({ length: 150 }, (_, i) => 40 + ((i * 11) % 90));
    const body = { prompt, prompt_logprobs: 2, max_tokens: 1 };
    const first = await ask(body);
    const [again, twice] = await Promise.all([ask(body), ask({ ...body, n: 3 })]);
    const scores = first.choices[0]!.prompt_logprobs;
    expect(scores).toHaveLength(150);
    expect(scores[0]).toBeNull();
    for (const { choices } of [again, twice])
      for (const { prompt_logprobs } of choices) expect(prompt_logprobs).toEqual(scores);
    scores.slice(1).forEach((score, i) => {
      const own = score![String(prompt[i + 1])]!;
      const better = Object.values(score!).filter(({ logprob }) => logprob > own.logprob);
      expect(own.rank).toBeGreaterThan(better.length);
    });
  });

  test('are of a prompt that fills the context, too', async () => {
    const full = Array.from({ length: 1024 }, (_, i) => 40 + ((i * 11) % 90));
    const scoresOf = async (prompt: readonly number[]): Promise<(number | null)[]> => {
      const { choices, usage } = await ask({ prompt, echo: true, logprobs: 0, max_tokens: 0 });
      expect(usage).toMatchObject({ prompt_tokens: prompt.length, completion_tokens: 0 });
      expect(choices[0]!.finish_reason).toBe('length');
      return choices[0]!.logprobs.token_logprobs;
    };
    const scores = await scoresOf(full);
    expect(scores).toHaveLength(full.length);
    const shorter = await scoresOf(full.slice(0, -1));
    shorter.slice(1).forEach((score, i) => expect(scores[i + 1]).toBeCloseTo(score!, 1));
    expect(scores.at(-1)).toBeLessThan(0);
    const refused = await askOne(replicas.plain, { prompt: full, echo: true, max_tokens: 1 });
    expect(refused.error).toMatchObject({ code: 'context_length_exceeded' });
  });
});
