// What servers say of themselves, and routes that are not here, as llama.cpp's and vLLM's tests ask for them.

import { hello } from './chat-request.js';
import {
  absent,
  casesOf,
  get,
  long,
  matches,
  ok,
  post,
  refused,
  text,
  type SuiteCase,
} from './suite-case.js';
import { tokenTools } from './text-cases.js';

const whole = (value: unknown): boolean => Number.isInteger(value);

const template = casesOf('llama.cpp', 'template');
const basic = casesOf('llama.cpp', 'basic');
const vllmBasic = casesOf('vLLM', 'basic/test_basic');
const models = casesOf('vLLM', 'models/test_models');
const own = 'it is llama.cpp’s own';

export const serverCases: readonly SuiteCase[] = [
  template.same(
    'a prompt with and without the beginning of an answer',
    [true, false].map((add_generation_prompt) =>
      post('/apply-template', { messages: hello, add_generation_prompt }),
    ),
    ok({ prompt: text }),
    { unlike: ['prompt'] },
  ),
  template.same(
    'a prompt with tools',
    post('/apply-template', { messages: hello, tools: tokenTools }),
    ok({ prompt: matches(/get_weather/) }),
  ),
  template.same(
    'a prompt without',
    [null, []].map((tools) => post('/apply-template', { messages: hello, tools })),
    ok({ prompt: text }),
    { alike: ['prompt'] },
  ),
  basic.same('`/health`', get('/health'), ok({ state: 'serving' })),
  basic.same('models', get('/v1/models'), ok({ 'data.0.id': 'demo' })),
  basic.differs(
    '`/models`',
    get('/models'),
    absent('/v1/models'),
    'the models',
    'a route has one path; the error names it',
  ),
  basic.differs(
    '`/props`',
    get('/props'),
    absent('/props'),
    'the default settings',
    `${own}; \`/v1/models\` has the context, \`/health\` the engine`,
  ),
  basic.differs(
    '`/slots`',
    get('/slots'),
    absent('/slots'),
    '501, or the slots',
    'there are no slots; `/load` and `/metrics` count requests',
  ),
  basic.differs(
    '`/`',
    get('/'),
    ok({ name: 'llmservice' }),
    'a page with a chat',
    'it is the list of routes; the page is at `/ui`',
  ),
  casesOf('llama.cpp', 'lora').differs(
    '`/lora-adapters`',
    post('/lora-adapters', '[]'),
    absent('/lora-adapters'),
    'the adapters',
    'no adapters are served: merge them into the checkpoint',
  ),
  casesOf('llama.cpp', 'slot_save').differs(
    '`/slots/1?action=save`',
    post('/slots/1?action=save', { filename: 'a' }),
    absent('/slots/1'),
    'the slot in a file',
    'clients write no files here; prefixes are cached by themselves',
  ),
  casesOf('llama.cpp', 'infill').differs(
    '`/infill`',
    post('/infill', { input_prefix: 'a', input_suffix: 'b' }),
    absent('/infill'),
    'what stands between',
    'the prompt of a model that fills in can be sent to `/v1/completions`',
  ),
  casesOf('llama.cpp', 'rerank').differs(
    '`/rerank`',
    post('/rerank', { query: 'x', documents: ['a'] }),
    refused(null, 'engine.classifierFromToken'),
    'the order of texts',
    'the demo model is no reranker',
  ),
  casesOf('llama.cpp', 'stream').differs(
    'a stream that its client resumes',
    get('/v1/stream?conv_id=a&from=0'),
    absent('/v1/stream'),
    'the events of a stream that was left',
    'a request that its client leaves ends',
  ),
  casesOf('llama.cpp', 'security').differs(
    'a page of another origin asks first',
    {
      method: 'OPTIONS',
      path: '/v1/completions',
      headers: { origin: 'https://web.mydomain.fr', 'access-control-request-method': 'POST' },
    },
    { status: 204, has: {} },
    '200 with `Access-Control-Allow-Origin`',
    '`server.cors.origins` names the origins whose pages may ask; none may otherwise',
  ),
  vllmBasic.same('`/version`', get('/version'), ok({ version: text })),
  vllmBasic.same('`/health`', get('/health'), ok()),
  vllmBasic.same('`/load`', get('/load'), ok({ server_load: whole })),
  vllmBasic.differs(
    'a body of another type',
    {
      ...post('/v1/completions', { prompt: 'x', max_tokens: 1 }),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
    ok({ choices: long(1) }),
    'an error',
    'a body that is JSON is read, whatever its type says: `curl -d` sends this one',
  ),
  models.same('models', get('/v1/models'), ok({ 'data.0.id': 'demo', 'data.0.root': 'demo' })),
  models.same('a model', get('/v1/models/demo-alias'), ok({ id: 'demo-alias', root: 'demo' })),
  models.same(
    'a model that is not there',
    get('/v1/models/this-model-does-not-exist'),
    absent('does not exist'),
  ),
];
