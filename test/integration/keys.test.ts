// API keys, budgets and the accounting log at whole replicas with the demo model, as OpenAI's client and plain HTTP see
// them: keys that change while requests run, refusals whose Retry-After is true, and sums that are those of the answers.

import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { eventually } from '../processes.js';
import { clientOf, complete, entry, Folders, ofKey, type Line } from './keyed-replica.js';
import type { ReplicaProcess } from './replica-process.js';
import { endless } from './streams.js';

jest.setTimeout(180_000);

describe('a replica with keys', () => {
  const always = [
    entry('free'),
    entry('minute', { tokensPerMinute: 60 }),
    entry('single', { concurrency: 1 }),
    entry('a', { weight: 2 }),
    entry('b', { priority: 1 }),
  ];
  let folders: Folders;
  let replica: ReplicaProcess;
  beforeAll(async () => {
    folders = new Folders(always);
    // Small files, so that the log is in several.
    replica = await folders.start({ LLMSERVICE_ACCOUNTING_FILE_BYTES: '2000' });
    await replica.ready();
  });
  afterAll(async () => {
    await replica.stop();
    folders.remove();
  });
  afterEach(() => expect(replica.log).not.toContain('sk-'));

  const say = { model: 'demo', prompt: 'The', max_tokens: 3 };

  test('lets in OpenAI’s client with a key, and nobody else', async () => {
    expect((await clientOf(replica, 'free').completions.create(say)).usage?.completion_tokens).toBe(3);
    await expect(clientOf(replica, 'stranger').completions.create(say)).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      type: 'invalid_request_error',
    });
    for (const path of ['/v1/models', '/v1/models/demo', '/version', '/v1/completions'])
      expect((await fetch(replica.url + path)).status).toBe(401);
    const models = await fetch(`${replica.url}/v1/models`, { headers: { 'x-api-key': 'sk-free' } });
    expect(models.status).toBe(200);
    expect((await fetch(`${replica.url}/metrics`)).status).toBe(200);
  });

  test('takes over keys that change, without a word from anybody; what runs continues', async () => {
    folders.mount(JSON.stringify({ keys: [...always, entry('guest')] }));
    await eventually('the guest to be let in', async () => (await complete(replica, 'guest', say)).ok);
    const running = await complete(replica, 'guest', { ...endless, max_tokens: 150 });
    folders.mount(JSON.stringify({ keys: always }));
    await eventually(
      'the guest to be kept out',
      async () => (await complete(replica, 'guest', say)).status === 401,
    );
    expect(await running.text()).toContain('[DONE]');
  });

  test('keeps its keys when the new file is broken, and says so', async () => {
    expect(await replica.metric('llmservice_key_file_valid')).toBe(1);
    folders.mount('keys: [{ id: free, sha256: sk-free }]');
    await eventually('the metric', async () => (await replica.metric('llmservice_key_file_valid')) === 0);
    expect((await complete(replica, 'free', say)).status).toBe(200);
    expect(replica.log).toContain('keys[0].sha256 must be the SHA-256 of the key');
    folders.mount(JSON.stringify({ keys: always }));
    await eventually('the metric', async () => (await replica.metric('llmservice_key_file_valid')) === 1);
  });

  test('refuses beyond the tokens per minute, and the client that waits as long as Retry-After says is served', async () => {
    const long = { ...say, max_tokens: 72, ignore_eos: true };
    expect((await complete(replica, 'minute', long)).status).toBe(200);
    const startedAt = Date.now();
    const refused = await complete(replica, 'minute', say);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
    });
    const seconds = Number(refused.headers.get('retry-after'));
    // About 74 of 60 are spent, and one comes every second, also while this process waits for a processor.
    expect(seconds).toBeGreaterThan(3);
    expect(seconds).toBeLessThan(25);
    // OpenAI's client retries on its own, after the time in the header.
    const answer = await clientOf(replica, 'minute', 2).completions.create(say);
    expect(answer.usage?.completion_tokens).toBe(3);
    expect(Date.now() - startedAt).toBeGreaterThan((seconds - 2) * 1000);
    expect(await ofKey(replica, 'refused_total', 'minute')).toBeGreaterThanOrEqual(2);
    expect((await complete(replica, 'free', say)).status).toBe(200);
  });

  test('runs no more requests of a key at once than it may', async () => {
    const controller = new AbortController();
    const running = await complete(replica, 'single', endless, controller.signal);
    expect(running.status).toBe(200);
    const refused = await complete(replica, 'single', say);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    controller.abort();
    await eventually('room', async () => (await complete(replica, 'single', say)).ok);
  });

  test('accounts for exactly what was reported to clients, streamed and not, and for what was made for those who left', async () => {
    const totals = async () => ({
      prompt: await replica.metric('vllm:prompt_tokens_total'),
      completion: await replica.metric('vllm:generation_tokens_total'),
    });
    await eventually('quiet', async () => (await replica.health('sk-free')).engine?.inFlight === 0);
    const before = await totals();
    const reported = new Map<string, OpenAI.CompletionUsage>();
    const left = new Map<string, number>();

    const whole = async (key: string, i: number) => {
      const prompt = i % 3 === 0 ? ['One two', 'One two three'] : `Number ${String(i)} of many`;
      const { id, usage } = await clientOf(replica, key).completions.create({
        model: 'demo',
        prompt,
        max_tokens: 5 + i,
      });
      reported.set(`${key} ${id}`, usage!);
    };
    const streamed = async (key: string, i: number) => {
      const stream = await clientOf(replica, key).chat.completions.create({
        model: 'demo',
        messages: [{ role: 'user', content: `Question ${String(i)}` }],
        max_completion_tokens: 5 + i,
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const { id, usage } of stream) if (usage) reported.set(`${key} ${id}`, usage);
    };
    const abandoned = async (key: string) => {
      const controller = new AbortController();
      const response = await complete(replica, key, endless, controller.signal);
      const reader = response.body!.getReader();
      for (let i = 0; i < 5; i++) await reader.read();
      left.set(`${key} ${response.headers.get('x-request-id')!}`, 5);
      controller.abort();
    };
    await Promise.all(
      ['a', 'b'].flatMap((key) =>
        Array.from({ length: 12 }, (_, i) => [whole(key, i), streamed(key, i), abandoned(key)]).flat(),
      ),
    );
    expect([reported.size, left.size]).toEqual([48, 24]);

    const ofBoth = () => folders.lines.filter(({ key }) => key === 'a' || key === 'b');
    await eventually('every line', () => ofBoth().length === 72);
    const lines = ofBoth();
    // How many depends on how many lines come at once: a file is left between two writes.
    expect(readdirSync(folders.accounting).length).toBeGreaterThan(1);
    for (const { id, key, ...line } of lines) {
      const usage = reported.get(`${key} ${id}`);
      if (usage === undefined) {
        expect(line.finish).toEqual(['abort']);
        expect(line.completionTokens).toBeGreaterThan(0);
        expect(left.has(`${key} ${id}`)).toBe(true);
        continue;
      }
      expect(line).toMatchObject({
        promptTokens: usage.prompt_tokens,
        cachedTokens: usage.prompt_tokens_details?.cached_tokens,
        completionTokens: usage.completion_tokens,
      });
    }
    const sum = (of: readonly Line[], count: (line: Line) => number): number =>
      of.reduce((total, line) => total + count(line), 0);
    const after = await totals();
    expect(sum(lines, (line) => line.promptTokens)).toBe(after.prompt - before.prompt);
    expect(sum(lines, (line) => line.completionTokens)).toBe(after.completion - before.completion);
    for (const key of ['a', 'b']) {
      const own = lines.filter((line) => line.key === key);
      expect(await ofKey(replica, 'requests_total', key)).toBe(own.length);
      expect(await ofKey(replica, 'prompt_tokens_total', key)).toBe(sum(own, (line) => line.promptTokens));
      expect(await ofKey(replica, 'completion_tokens_total', key)).toBe(
        sum(own, (line) => line.completionTokens),
      );
    }
  });
});

test('a replica that is killed leaves a log that is read, and the next one continues with the budget of the day', async () => {
  const folders = new Folders([entry('day', { tokensPerDay: 120 }), entry('free')]);
  const body = { prompt: 'The', max_tokens: 50, ignore_eos: true };
  const first = await folders.start();
  await first.ready();
  expect((await complete(first, 'day', body)).status).toBe(200);
  await eventually('the line', () => folders.lines.length === 1);
  const running = complete(first, 'free', endless).then((response) => response.text());
  await first.stop();
  await expect(running).rejects.toThrow();
  const [file] = readdirSync(folders.accounting);
  writeFileSync(join(folders.accounting, file!), '{"time":"20', { flag: 'a' });

  const second = await folders.start();
  await second.ready();
  expect(folders.lines).toHaveLength(1);
  expect((await complete(second, 'day', body)).status).toBe(200);
  expect((await complete(second, 'day', body)).status).toBe(200);
  const untilMidnight = (): number => 86_400 - ((Date.now() / 1000) % 86_400);
  const most = untilMidnight();
  const refused = await complete(second, 'day', body);
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeLessThan(most + 3);
  expect(seconds).toBeGreaterThan(untilMidnight() - 3);
  await second.stop();
  folders.remove();
});

test('on a full disk answers continue, and every line is there once there is room', async () => {
  const folders = new Folders([entry('a')]);
  mkdirSync(folders.accounting);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folders.accounting]);
  try {
    const filler = join(folders.accounting, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(2 ** 17))).toThrow('ENOSPC');
    const replica = await folders.start();
    await replica.ready();
    const ask = async (i: number): Promise<string> => {
      const response = await complete(replica, 'a', { prompt: `Number ${String(i)}`, max_tokens: 2 });
      expect(response.status).toBe(200);
      return ((await response.json()) as { id: string }).id;
    };
    const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i)));
    await eventually(
      'writes to fail',
      async () => (await replica.metric('llmservice_accounting_write_failures_total')) > 1,
    );
    expect(replica.log).toContain('the accounting log cannot be written');
    rmSync(filler);
    ids.push(await ask(20));
    await eventually('every line', () => folders.lines.length === ids.length);
    expect(folders.lines.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(await replica.metric('llmservice_accounting_lines_lost_total')).toBe(0);
    await replica.stop();
  } finally {
    execFileSync('umount', [folders.accounting]);
    folders.remove();
  }
});

test.each([
  ['broken', 'keys: [{ id: a }]', 'keys[0].sha256 is required'],
  ['of no keys', 'keys: []', 'to serve without keys'],
])('a replica whose key file is %s lets nobody in: it ends', async (_, content, message) => {
  const folders = new Folders([]);
  folders.mount(content);
  const replica = await folders.start();
  expect(await replica.exited()).toBe(1);
  expect(replica.terminationMessage).toMatchObject({
    reason: 'KeysInvalid',
    message: expect.stringContaining(message),
  });
  await replica.stop();
  folders.remove();
});
