// Programs that measure a model or its server: one small run each.

import { asideOpening } from '../builders/script.js';
import type { Client, Place } from './client.js';

/** A task of lm-eval's, with its data beside it. */
const evaluation = (
  { home }: Place,
  output: 'generate_until' | 'multiple_choice',
  opening: string,
): Record<string, string> => ({
  'tasks/colours.jsonl': ['teal', 'red']
    .map((colour) => `${JSON.stringify({ question: `Which colour?${opening}`, colour })}\n`)
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
  // A chat's template writes what the script begins with.
  settings: (place) => evaluation(place, output, protocol === 'chat' ? '' : asideOpening),
  command: ({ programs, home, url }) => [
    ...([`${programs}/lm_eval`, 'run', '--model', model[0]] as const),
    ...[
      '--model_args',
      `model=demo,base_url=${url}${model[1]},tokenizer_backend=remote,num_concurrent=1,max_retries=1`,
    ],
    ...['--tasks', 'colours', '--include_path', `${home}/tasks`, ...more],
  ],
  env: () => ({ HF_HUB_OFFLINE: '1', HF_DATASETS_OFFLINE: '1' }),
  // One of the two questions.
  says: '|  0.5|',
  writes: false,
  asks: ['GET /tokenizer_info'],
});

/** guidellm, with texts that it makes up by the checkpoint's tokenizer, and answers of a given length. */
const byGuidellm = (protocol: 'chat' | 'completions' | 'responses', path: string): Client => ({
  name: `guidellm, ${protocol}`,
  protocol,
  packages: { from: 'pip', requirements: 'guidellm.txt', hasTorch: true },
  script: () => ({ turns: [], aside: 'teal' }),
  command: ({ programs, model, url }) => [
    ...([`${programs}/guidellm`, 'run'] as const),
    ...['--backend', `kind=openai_http,target=${url},request_format=${path}`],
    ...['--tokenizer', `kind=huggingface_auto,model=${model}`],
    ...['--data', 'kind=synthetic_text,prompt_tokens=64,output_tokens=16'],
    ...['--profile', 'kind=concurrent,streams=2', '--constraint', 'kind=max_requests,count=6'],
    ...['--output', 'kind=console', '--disable-console-interactive'],
  ],
  env: () => ({ HF_HUB_OFFLINE: '1', COLUMNS: '200' }),
  // The tokens of all answers, and none of such as were cut or refused.
  says: '| 96.0 | 0.0 | 0.0 |',
  writes: false,
  asks: ['GET /health', 'GET /v1/models'],
});

export const measurements: readonly Client[] = [
  byEvaluation(
    'lm-eval, local-completions',
    'completions',
    ['local-completions', '/v1/completions'],
    'multiple_choice',
  ),
  byEvaluation(
    'lm-eval, local-completions, texts',
    'completions',
    ['local-completions', '/v1/completions'],
    'generate_until',
  ),
  byEvaluation(
    'lm-eval, local-chat-completions',
    'chat',
    ['local-chat-completions', '/v1/chat/completions'],
    'generate_until',
    ['--apply_chat_template'],
  ),
  byGuidellm('chat', '/v1/chat/completions'),
  byGuidellm('completions', '/v1/completions'),
  byGuidellm('responses', '/v1/responses'),
];
