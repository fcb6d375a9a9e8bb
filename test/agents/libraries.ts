// Libraries and measuring programs that speak to servers of OpenAI's protocols: one small task each.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toolCall, type Script } from '../builders/script.js';
import { question, task, type Client, type Place } from './client.js';

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

/** A task of lm-eval's, with its data beside it. */
const evaluation = (
  { home }: Place,
  output: 'generate_until' | 'multiple_choice',
): Record<string, string> => ({
  'tasks/colours.jsonl': ['teal', 'red']
    .map((colour) => `${JSON.stringify({ question: 'Which colour?', colour })}\n`)
    .join(''),
  'tasks/colours.yaml': JSON.stringify({
    task: 'colours',
    dataset_path: 'json',
    dataset_kwargs: { data_files: { test: `${home}/tasks/colours.jsonl` } },
    test_split: 'test',
    output_type: output,
    doc_to_text: '{{question}}',
    ...(output === 'generate_until'
      ? {
          doc_to_target: '{{colour}}',
          generation_kwargs: { until: ['\n'], max_gen_toks: 32 },
          metric_list: [{ metric: 'exact_match' }],
        }
      : {
          doc_to_choice: ['teal', 'red'],
          doc_to_target: "{{['teal', 'red'].index(colour)}}",
          metric_list: [{ metric: 'acc' }],
        }),
  }),
});

const byEvaluation = (
  name: string,
  protocol: 'chat' | 'completions',
  model: readonly [kind: string, path: string],
  output: 'generate_until' | 'multiple_choice',
  more: readonly string[] = [],
): Client => ({
  name,
  protocol,
  packages: { from: 'pip', requirements: 'evaluations.txt' },
  script: () => ({ turns: [], aside: 'teal' }),
  settings: (place) => evaluation(place, output),
  command: ({ programs, home, url }) => [
    ...([`${programs}/lm_eval`, 'run', '--model', model[0]] as const),
    ...['--model_args', `model=demo,base_url=${url}${model[1]},num_concurrent=1,max_retries=1`],
    ...['--tasks', 'colours', '--include_path', `${home}/tasks`, ...more],
  ],
  env: () => ({ HF_HUB_OFFLINE: '1', HF_DATASETS_OFFLINE: '1' }),
  says: output === 'generate_until' ? '0.5' : '|colours|',
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
  byEvaluation(
    'lm-eval, local-completions',
    'completions',
    ['local-completions', '/v1/completions'],
    'multiple_choice',
  ),
  byEvaluation(
    'lm-eval, local-chat-completions',
    'chat',
    ['local-chat-completions', '/v1/chat/completions'],
    'generate_until',
    ['--apply_chat_template'],
  ),
];
