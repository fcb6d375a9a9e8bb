// `make test-vllm`: the real vLLM with the arguments and variables that the operator plans. Serves a small Qwen3 checkpoint
// and asks it; then lets it fail and reads the reasons from its logs. Usage: serve.ts FOLDER_OF_THE_ENVIRONMENT

import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FailureReason } from '@llmservice/crds';
import { readVllmLog } from '../../operator/src/status/vllm-failure.js';
import { byteTokenizer, byteTokenizerSpecials } from '../builders/byte-tokenizer.js';
import { freePort, start } from '../processes.js';
import { plannedRun } from './planned.js';

const startLimitMs = 15 * 60_000;
const model = { uri: 's3://models/tiny/', name: 'tiny', aliases: ['tiny-alias'] };
// What the machine has is shared: a small cache, by an option that replaces the planned one.
const smallCache = ['--kv-cache-memory-bytes', String(2 ** 28)];
const engine = {
  runtime: 'vllm',
  maxModelLen: 512,
  maxNumSeqs: 8,
  reasoningParser: 'qwen3',
  toolCallParser: 'hermes',
};

const environment = resolve(process.argv[2] ?? '');
const scratch = mkdtempSync(join(tmpdir(), 'llmservice-vllm-'));

/** The golden Qwen3 with a tokenizer and a template. */
function makeCheckpoint(name: string, config: object = {}): string {
  const folder = join(scratch, name);
  const golden = fileURLToPath(new URL('../golden/models/qwen3-bf16', import.meta.url));
  mkdirSync(folder);
  cpSync(golden, folder, {
    recursive: true,
    filter: (path) => !/(golden|long|at-load|kv-fp8|embeddings)\.json$/.test(path),
  });
  const written = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as object;
  const [bos_token, eos_token] = byteTokenizerSpecials;
  const files = {
    'config.json': { ...written, ...config },
    'tokenizer.json': byteTokenizer(),
    'tokenizer_config.json': {
      ...{ tokenizer_class: 'PreTrainedTokenizerFast', bos_token, eos_token },
      chat_template: "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:",
    },
  };
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(folder, file), JSON.stringify(content));
  return folder;
}

function check(what: string, holds: boolean): void {
  if (!holds) throw new Error(`not so: ${what}`);
  console.log(`ok ${what}`);
}

async function launch(name: string, checkpoint: string, spec: object) {
  const port = await freePort();
  const home = join(scratch, `${name}-home`);
  mkdirSync(home);
  const { args, env } = plannedRun(spec, { checkpoint, port, home });
  console.log(`vllm ${args.join(' ')}`);
  const log = join(scratch, `${name}.log`);
  const child = start(join(environment, 'bin/vllm'), args, log, env);
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  return { child, ended, url: `http://127.0.0.1:${String(port)}`, log: () => readFileSync(log, 'utf8') };
}

async function serves(): Promise<void> {
  const spec = { model, engine: { ...engine, args: smallCache } };
  const { child, ended, url, log } = await launch('serves', makeCheckpoint('tiny'), spec);
  const limit = Date.now() + startLimitMs;
  const health = async (): Promise<number> => (await fetch(`${url}/health`)).status;
  while ((await health().catch(() => 0)) !== 200) {
    if (child.exitCode !== null || Date.now() > limit)
      throw new Error(`it never served; its log:\n${log().slice(-8000)}`);
    await new Promise((done) => setTimeout(done, 500));
  }
  check('/health answers 200 once it serves', true);
  const ask = async (path: string, body: object): Promise<Response> =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const name of [model.name, ...model.aliases]) {
    const answer = await ask('/v1/completions', {
      model: name,
      prompt: 'hello',
      max_tokens: 8,
      temperature: 0,
    });
    const { usage } = (await answer.json()) as {
      usage: { prompt_tokens: number; completion_tokens: number };
    };
    check(`${name} completes, and counts`, usage.prompt_tokens === 5 && usage.completion_tokens === 8);
  }
  const messages = [{ role: 'user', content: 'hello' }];
  const stream = await ask('/v1/chat/completions', {
    model: model.name,
    messages,
    max_tokens: 8,
    stream: true,
  });
  check('a chat streams to its end', (await stream.text()).trimEnd().endsWith('data: [DONE]'));
  const metrics = await (await fetch(`${url}/metrics`)).text();
  check('/metrics has the metrics that dashboards ask for', metrics.includes('vllm:num_requests_running'));
  child.kill('SIGTERM');
  check('SIGTERM ends it with 0', (await ended) === 0);
}

async function fails(name: string, reason: FailureReason, spec: object, checkpoint: string): Promise<void> {
  const { ended, log } = await launch(name, checkpoint, { model, ...spec });
  const code = await ended;
  const failure = readVllmLog(log());
  console.log(`   ${failure?.reason ?? 'nothing'}: ${failure?.message ?? log().slice(-2000)}`);
  check(`${name} ends it with a failure that is read as ${reason}`, code !== 0 && failure?.reason === reason);
}

try {
  await serves();
  const tiny = join(scratch, 'tiny');
  await fails(
    'long',
    'InvalidEngineConfig',
    { engine: { ...engine, maxModelLen: 4096, args: smallCache } },
    tiny,
  );
  await fails(
    'cramped',
    'KvCacheTooSmall',
    { engine: { ...engine, maxModelLen: 1024, blockSize: 32, args: ['--kv-cache-memory-bytes', '500000'] } },
    tiny,
  );
  await fails(
    'ranks',
    'ParallelismInvalid',
    { engine: { ...engine, args: smallCache }, accelerator: { devices: 3 } },
    tiny,
  );
  const unknown = makeCheckpoint('unknown', { architectures: ['Gemma9ForCausalLM'] });
  await fails('architecture', 'UnsupportedByEngine', { engine: { ...engine, args: smallCache } }, unknown);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
