// What an endpoint picker that knows prefixes saves: the same branching chats to three replicas through Envoy, which takes
// them in turn or asks the published picker. What the operator plans for an InferencePool runs as it is planned.
// usage: ENVOY=PROGRAM tsx test/bench/picker.ts [CHATS]; `npm run build` first. The picker's first build takes minutes.

import { PoolWorld } from './picker/pool-world.js';
import { loadBefore, watchDisturbances } from './peers/quiet.js';

const replicas = 3;
const turns = 4;
const wordsPerTurn = 60;
/** Requests at once. */
const concurrency = 6;
const maxTokens = 8;

interface Load {
  /** Answers that each turn is asked for, of which the chat continues with the first; one: chats that do not branch. */
  readonly branches: number;
  readonly chats: number;
  /** Chats that are under way at once: each has its next turn once all of them have had theirs. */
  readonly open: number;
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

interface Round {
  readonly hitShare: number;
  readonly promptTokens: readonly number[];
  readonly firstTokenMs: readonly number[];
}

const chats = Number(process.argv[2] ?? 12);
const engine = { maxModelLen: 2048, maxNumSeqs: 8 };
/** The last: a replica keeps some 15 chats of 1,100 tokens, three replicas 45. */
const loads: readonly Load[] = [
  { branches: 2, chats, open: concurrency },
  { branches: 1, chats, open: concurrency },
  { branches: 2, chats: 3 * chats, open: 3 * chats },
];
const load = loadBefore();
const world = await PoolWorld.start(replicas);
const disturbed = watchDisturbances(load);
try {
  const rounds: [string, Round][] = [];
  for (const each of loads) {
    const { branches, open } = each;
    for (const way of ['inTurn', 'picked'] as const) {
      await world.restartReplicas(engine);
      const name = `${way === 'picked' ? 'endpoint picker' : 'in turn'}, ${String(branches)}, ${String(open)}`;
      rounds.push([name, await measure(way, each)]);
    }
  }
  console.log(
    `chats of ${String(turns)} turns, ${String(concurrency)} requests at once, ${String(replicas)} replicas\n`,
  );
  console.log(
    '| way, answers per turn, open chats | prompt tokens from the cache | first token p50, ms | p90, ms | prompt tokens by replica |',
  );
  console.log('|---|---|---|---|---|');
  for (const [name, { hitShare, firstTokenMs, promptTokens }] of rounds) {
    const times = [0.5, 0.9].map((share) => quantile(firstTokenMs, share).toFixed(0));
    const cells = [name, `${(hitShare * 100).toFixed(1)} %`, ...times, promptTokens.join(', ')];
    console.log(`| ${cells.join(' | ')} |`);
  }
  console.log(`\nthe picker: ${(await world.pickerReport()).join('; ')}`);
  for (const sentence of disturbed([1])) console.log(`not quiet: ${sentence}`);
} catch (error) {
  console.error(world.log('picker').slice(-4_000), world.log('envoy').slice(-4_000));
  throw error;
} finally {
  await world.stop();
}
process.exit(0);

async function measure(way: 'inTurn' | 'picked', each: Load): Promise<Round> {
  const { branches, chats: count, open } = each;
  const url = `http://127.0.0.1:${String(world.ports[way])}/v1/chat/completions`;
  const firstTokenMs: number[] = [];
  const turnOf = async (chat: { id: number; history: Message[] }, turn: number): Promise<void> => {
    const content = words(loads.indexOf(each) * 1_000_000 + chat.id * 100 + turn);
    const history: Message[] = [...chat.history, { role: 'user', content }];
    const answers: string[] = [];
    for (let branch = 0; branch < branches; branch += 1) {
      const { text, ms } = await ask(url, history, branch);
      answers.push(text);
      firstTokenMs.push(ms);
    }
    chat.history = [...history, { role: 'assistant', content: answers[0] ?? '' }];
  };
  for (let first = 0; first < count; first += open) {
    const group = Array.from({ length: Math.min(open, count - first) }, (_, index) => ({
      id: first + index,
      history: [] as Message[],
    }));
    for (let turn = 0; turn < turns; turn += 1) {
      // In another order each time: in turn, a chat would else come back to its replica by the count of chats alone.
      const place = ({ id }: { id: number }): number => Math.imul(id + 1, 2654435761 * (turn + 1)) >>> 0;
      const waiting = group.toSorted((a, b) => place(a) - place(b));
      const worker = async (): Promise<void> => {
        for (let chat = waiting.shift(); chat !== undefined; chat = waiting.shift()) await turnOf(chat, turn);
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
    }
  }
  const promptTokens = await world.metric('vllm:prompt_tokens_total');
  const hits = sum(await world.metric('vllm:prompt_tokens_cached_total'));
  return { hitShare: hits / sum(promptTokens), promptTokens, firstTokenMs };
}

async function ask(
  url: string,
  messages: readonly Message[],
  seed: number,
): Promise<{ text: string; ms: number }> {
  const startedAt = performance.now();
  const body = { model: 'demo', messages, max_tokens: maxTokens, temperature: 0.8, seed, stream: true };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok || response.body === null)
    throw new Error(`${String(response.status)} ${await response.text()}`);
  let text = '';
  let ms: number | null = null;
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (ms === null && text.includes('"content":"')) ms = performance.now() - startedAt;
  }
  const parts = [...text.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(
    ([, part]) => JSON.parse(part ?? '""') as string,
  );
  return { text: parts.join(''), ms: ms ?? performance.now() - startedAt };
}

/** Of no other chat or turn. */
function words(seed: number): string {
  let state = seed + 1;
  return Array.from({ length: wordsPerTurn }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 12).toString(36);
  }).join(' ');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
