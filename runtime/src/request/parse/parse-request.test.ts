import { describe, expect, test } from '@jest/globals';
import type { ApiError } from '../body/api-error.js';
import { noDefaults } from '../fields/generation-defaults.fixture.js';
import { checkpointDefaults } from '../fields/generation-defaults.js';
import { parseRequest } from './parse-request.js';
import type { GenerationKind, HonouredField } from '../body/field-table.js';
import { honouredFields, refusedFields } from '../validate/request-fields.js';

const defaults = {
  ...noDefaults,
  ...checkpointDefaults({ temperature: 0.6, top_k: 20, eos_token_id: [7, 8] }, {}),
};
const parse = (kind: GenerationKind, body: object): ReturnType<typeof parseRequest> =>
  parseRequest(kind, body, defaults, 99n);
const messages = [{ role: 'user', content: 'x' }];
const chat = (body: object): ReturnType<typeof parseRequest> => parse('chat', { messages, ...body });
const refusal = (act: () => unknown): ApiError => {
  try {
    act();
  } catch (error) {
    return error as ApiError;
  }
  throw new Error('was accepted');
};

describe('parseRequest', () => {
  test('joins text parts and takes developer for system', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const [prompt] = chat({ messages: [{ role: 'developer', content: parts }] }).prompts;
    expect(prompt).toMatchObject({ messages: [{ role: 'system', content: 'ab' }] });
  });

  test.each([
    ['text', 1],
    [['a', 'b'], 2],
    [[1, 2, 3], 1],
    [[[1], [2]], 2],
  ])('completions take the prompt %j', (prompt, count) => {
    expect(parse('completions', { prompt }).prompts).toHaveLength(count);
  });

  test.each([
    [{ image: 1 }, 'image is not a known field'],
    [{ n: 0 }, 'n must be >= 1'],
    [{ n: 129 }, 'n must be <= 128'],
    [{ best_of: 2 }, 'best_of is not supported'],
    [{ echo: true }, 'echo is not supported'],
    [{ suffix: 'x' }, 'suffix is not supported'],
    [{ tools: [{}] }, 'tools.0.function is required'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema is required'],
    [
      { response_format: { type: 'xml' } },
      'response_format.type must be one of "text", "json_object", "json_schema"',
    ],
    [
      { response_format: { type: 'json_schema', json_schema: null } },
      'response_format.json_schema is required',
    ],
    [
      { response_format: { type: 'text', json_schema: { schema: {} } } },
      'response_format.json_schema is not supported with this value: send it with type: json_schema',
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { schema: {}, strcit: true } } },
      'response_format.json_schema.strcit is not a known field',
    ],
    [
      { response_format: { type: 'json_object', strict: true } },
      'response_format.strict is not a known field',
    ],
    [
      { response_format: { type: 'text', schema: {} } },
      'response_format.schema is not supported with this value: send type: json_schema, and it as json_schema.schema',
    ],
    [
      { response_format: { type: 'json_object', schema: { not: {} } } },
      'response_format.schema.not is not supported',
    ],
    [{ guided_regex: 'a', ignore_eos: true }, 'ignore_eos and structured output exclude each other'],
    [
      { chat_template_kwargs: { enable_thinking: 'perhaps' } },
      'chat_template_kwargs.enable_thinking must be true or false, or a text such as "true" or "no"',
    ],
    [{ structured_outputs: { xml: 'a' } }, 'structured_outputs.xml is not a known field'],
    [{ logit_bias: { '5': 101 } }, 'logit_bias.5 must be <= 100'],
    [{ logit_bias: { word: 1 } }, 'logit_bias has the key "word"; its keys are token ids, such as "50256"'],
    [{ logit_bias: { '05': 1 } }, 'logit_bias has the key "05"'],
    [{ logit_bias: { x: 1, '5': 1, y: 2 } }, 'such as "50256"; logit_bias has the key "y"'],
    [{ logit_bias: { x: 1, '5': 101 } }, 'such as "50256"; logit_bias.5 must be <= 100'],
    [{ typical_p: 0 }, 'typical_p must be >= 0.000001'],
    [{ min_tokens: 5, max_tokens: 4 }, 'min_tokens must be at most max_tokens'],
    [{ bad_words: ['a'], guided_regex: 'a' }, 'bad_words and structured output exclude each other'],
    [{ allowed_token_ids: [] }, 'allowed_token_ids must NOT have fewer than 1 items'],
    [{ prompt_logprobs: -1 }, 'prompt_logprobs is not supported with this value: 0 to 20 alternatives'],
    [{ logprobs: true, top_logprobs: -1 }, 'top_logprobs is not supported with this value: 0 to 20'],
    [{ prompt_logprobs: 1, stream: true }, 'prompt_logprobs needs stream: false'],
    [{ truncate_prompt_tokens: 0 }, 'truncate_prompt_tokens must be at least 1, or -1 for the context'],
    [{ top_logprobs: 2 }, 'top_logprobs needs logprobs'],
    [{ stream_options: { include_usage: true } }, 'stream_options needs stream'],
    [{ temperature: 3 }, 'temperature must be <= 2'],
    [{ max_tokens: 0 }, 'max_tokens must be >= 1'],
    [{ priority: 9 }, 'priority must be <= 8'],
    [{ top_k: 2 ** 31 }, 'top_k must be <= 2147483647'],
    [{ top_p: 5e-324 }, 'top_p must be >= 0.000001'],
    [{ repetition_penalty: 3e-306 }, 'repetition_penalty must be >= 0.000001'],
    [{ max_queue_seconds: 0 }, 'max_queue_seconds must be > 0'],
    [{ cache_salt: '' }, 'cache_salt must NOT have fewer than 1 characters'],
    [{ max_tokens: 1, max_completion_tokens: 2 }, 'max_tokens and max_completion_tokens differ'],
    [
      { messages: [{ role: 'user', content: [{ type: 'poem' }] }] },
      'messages.0.content must be a string or a list of text parts',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
      'messages.0.content.0 is an image, and the model reads text only',
    ],
    [
      { reasoning: 'maybe' },
      'reasoning must be true or false, or a text such as "true" or "no", or {"enabled": ',
    ],
    [{ reasoning: { effort: 'huge' } }, 'reasoning must be true or false, or a text'],
    [{ reasoning: { summary: 'auto' } }, 'reasoning must be true or false, or a text'],
    [{ thinking: true }, 'thinking must be object'],
    [{ thinking: { type: 'on' } }, 'thinking.type must be one of "enabled", "disabled", "adaptive", "auto"'],
    [{ thinking: { type: 'enabled', keep: 'all' } }, 'thinking.keep is not a known field'],
    [
      { thinking: { type: 'enabled' }, reasoning: { enabled: false } },
      'thinking.type contradicts reasoning.enabled',
    ],
    [{ reasoning: { enabled: false, effort: 'low' } }, 'reasoning.effort contradicts reasoning.enabled'],
    [
      { reasoning: { effort: 'low' }, reasoning_effort: 'high' },
      'reasoning.effort contradicts reasoning_effort',
    ],
    [
      { reasoning: { max_tokens: 5 }, thinking: { type: 'enabled', budget_tokens: 6 } },
      'thinking.budget_tokens contradicts reasoning.max_tokens',
    ],
    [
      { reasoning: { exclude: true }, include_reasoning: true },
      'reasoning.exclude contradicts include_reasoning',
    ],
    [{ tools: [{ type: 'web_search' }] }, 'tools.0.type must be one of "function", "custom"'],
    [{ tools: [{ type: 'function' }] }, 'tools.0.function is required'],
    [{ tools: [{ type: 'custom' }] }, 'tools.0.custom is required'],
    [{ tools: [{ type: 'custom', custom: { name: 'a b' } }] }, 'tools.0.custom.name must match'],
    [
      { tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'grammar', grammar: {} } } }] },
      'tools.0.custom.format.grammar.syntax is required; tools.0.custom.format.grammar.definition is required',
    ],
    [
      {
        messages: [
          { role: 'assistant', tool_calls: [{ type: 'custom', function: { name: 'f', arguments: '' } }] },
        ],
      },
      'messages.0.tool_calls.0.custom is required',
    ],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] },
      'messages.0.tool_calls.0.function is required',
    ],
    [{ tool_choice: { type: 'allowed_tools' } }, 'tool_choice must be "none", "auto", "required", {"type"'],
    [{ reasoning: true, enable_thinking: false }, 'enable_thinking contradicts reasoning'],
    [
      { messages: [{ role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }] },
      'messages.0.function_call is not supported with this value: send tool_calls',
    ],
    [
      { messages: [{ role: 'assistant', audio: { id: 'a' } }] },
      'messages.0.audio is not supported with this value: send its transcript as content',
    ],
    ...['messages', 'tools', 'documents', 'add_generation_prompt'].map((name): [object, string] => [
      { chat_template_kwargs: { [name]: [] } },
      `chat_template_kwargs.${name} is not supported with this value: send ${name} beside`,
    ]),
  ])('refuses %j', (body, message) => {
    const error = refusal(() => chat(body));
    expect([error.status, error.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test.each([[[]], [5], [[1, 'a']], [[-1]], [[1.5]], [[['a']]], [[[]]]])(
    'says of the prompt %j what one may be',
    (prompt) => {
      expect(refusal(() => parse('completions', { prompt }))).toMatchObject({
        param: 'prompt',
        message: expect.stringMatching(/^prompt must be a text, a list of texts, a list of token ids/),
      });
    },
  );

  test('of thousands of violations the first twenty are reported', () => {
    const wrong = Array.from({ length: 9000 }, () => ({ role: 'user', content: 5 }));
    const reported = refusal(() => chat({ messages: wrong })).message.split('; ');
    expect(reported).toHaveLength(21);
    expect(reported[19]).toBe('messages.19.content must be a string or a list of text parts');
    expect(reported[20]).toBe('and 8980 more');
  });

  test.each([
    ['stop', (long: string) => long],
    ['stop.1', (long: string) => ['a', long]],
  ])('%s has at most 1024 characters', (param, stop) => {
    expect(() => chat({ stop: stop('x'.repeat(1024)) })).not.toThrow();
    const message = `${param} must NOT have more than 1024 characters`;
    expect(refusal(() => chat({ stop: stop('x'.repeat(1025)) }))).toMatchObject({ param, message });
  });

  test.each([
    ['parts', { role: 'user', content: new Array(3_000_000).fill(0) }],
    ['calls', { role: 'assistant', tool_calls: new Array(3_000_000).fill(0) }],
  ])('of a body with millions of wrong %s one violation is reported', (_, message) => {
    expect(refusal(() => chat({ messages: [message] })).message).not.toContain(';');
  });

  test('a message passes as clients write the answers that they send back', () => {
    const answered = { role: 'assistant', content: 'x', refusal: null, annotations: [] };
    const empty = { audio: null, function_call: null, tool_calls: null, reasoning_content: null };
    expect(() => chat({ messages: [...messages, { ...answered, ...empty }] })).not.toThrow();
  });

  test('a body of more fields than any route has is not read', () => {
    const fields = Array.from({ length: 501 }, (_, i) => [`f${String(i)}`, 1]);
    expect(refusal(() => chat(Object.fromEntries(fields) as object)).message).toMatch(/has 502 fields/);
  });

  test('values that ask for nothing pass', () => {
    expect(() =>
      chat({
        n: 1,
        tools: [],
        tool_choice: 'none',
        logit_bias: {},
        response_format: { type: 'text', json_schema: null, schema: null },
        top_logprobs: 0,
        stop: null,
      }),
    ).not.toThrow();
  });

  test('says how a request waits and with whom it shares the cache; nothing of it by default', () => {
    expect(chat({ user: 'team', priority: -2, max_queue_seconds: 1.5, cache_salt: 's' })).toMatchObject({
      fairnessKey: 'team',
      priority: -2,
      maxQueueMs: 1500,
      cacheSalt: 's',
    });
    expect(chat({})).toMatchObject({ fairnessKey: '', priority: null, maxQueueMs: null, cacheSalt: null });
  });
});

test('a field that is refused is not honoured on every route', () => {
  const both = Object.entries<HonouredField>(honouredFields).filter(([name]) => name in refusedFields);
  expect(both.map(([name]) => name)).toEqual([
    'chat_template',
    'documents',
    'stream',
    'n',
    'prompt_logprobs',
    'return_token_ids',
    'return_tokens_as_token_ids',
    'include_reasoning',
    'top_logprobs',
    'add_generation_prompt',
    'continue_final_message',
    'service_tier',
    'store',
    'verbosity',
  ]);
  expect(both.filter(([, { routes }]) => routes.includes('predict'))).toEqual([]);
});

test('what one route honours passes on another only where it asks for nothing', () => {
  expect(() => parse('predict', { prompt: 'x', n: 1 })).not.toThrow();
  expect(refusal(() => parse('predict', { prompt: 'x', n: 2 })).message).toContain('n is not supported');
});
