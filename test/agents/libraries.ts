// Libraries that programs ask models by: one small task each.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toolCall, type Script } from '../builders/script.js';
import { question, task, type Client } from './client.js';

const beside = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const said = 'The colour is teal.';

/** A tool's call and the answer. */
const readsOnly = (): Script => ({
  turns: [toolCall('read_file', { path: question.file }), said],
  aside: said,
});

/** Each has packages of its own: they want different versions of `openai`. */
const byPython = (name: string, requirements: string, script: () => Script): Client => ({
  name,
  protocol: 'chat',
  packages: { from: 'pip', requirements: `${requirements}.txt` },
  script,
  command: ({ programs, url }) => [
    `${programs}/python`,
    ...[beside('smokes.py'), requirements.replaceAll('-', '_'), url],
  ],
  env: () => ({ TASK: task, PYTHONDONTWRITEBYTECODE: '1', LITELLM_LOCAL_MODEL_COST_MAP: 'True' }),
  says: said,
  writes: false,
});

/** KServe's own SDK asks whether server and model are ready, then for an answer. */
const byKserve = (version: 'v1' | 'v2', protocol: 'predict' | 'infer', asks: readonly string[]): Client => {
  const client = byPython(`KServe's SDK, ${version}`, 'kserve', () => ({ turns: [], aside: said }));
  const command: Client['command'] = (place) => [...client.command(place), version];
  return { ...client, protocol, command, asks };
};

const byVercel = (protocol: 'chat' | 'responses'): Client => ({
  name: `Vercel's AI SDK, ${protocol}`,
  protocol,
  packages: {
    from: 'npm',
    specs: ['ai@7.0.173', '@ai-sdk/openai@4.0.118', '@ai-sdk/openai-compatible@3.0.92', 'zod@4.6.7'],
  },
  script: readsOnly,
  // From HOME on, modules are found in the folder of the packages.
  settings: () => ({ 'vercel-ai.mjs': readFileSync(beside('vercel-ai.mjs'), 'utf8') }),
  command: ({ home, url }) => [process.execPath, `${home}/vercel-ai.mjs`, protocol, url, task],
  says: `${said}\n${said}`,
  writes: false,
});

export const libraries: readonly Client[] = [
  byPython('LangChain', 'langchain', readsOnly),
  byPython('LlamaIndex', 'llama-index', readsOnly),
  byPython('pydantic-ai', 'pydantic-ai', readsOnly),
  byPython('instructor', 'instructor', () => ({
    turns: [toolCall('Colour', { name: 'teal' })],
    aside: said,
  })),
  byPython('DSPy', 'dspy', () => ({
    turns: [],
    aside: `[[ ## answer ## ]]\n${said}\n\n[[ ## completed ## ]]\n`,
  })),
  byVercel('chat'),
  byVercel('responses'),
  byKserve('v1', 'predict', ['GET /', 'GET /v1/models/demo']),
  byKserve('v2', 'infer', ['GET /v2/health/live', 'GET /v2/health/ready', 'GET /v2/models/demo/ready']),
  {
    ...byPython('tritonclient', 'tritonclient', () => ({ turns: [], aside: said })),
    protocol: 'infer',
    asks: ['GET /v2', 'GET /v2/health/live', 'GET /v2/health/ready', 'GET /v2/models/demo/ready'],
    refused: ['POST /v2/models/other/infer 404'],
  },
];
