// The document against itself, against the routes that are mounted, and against what they answer.

import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { bodySchemas } from '../../request/validate/body-schemas.js';
import { makeApp } from '../app.js';
import { makeOpenApiDocument } from './openapi-document.js';
import { mountedRoutes, type RouteName } from './route-table.js';
import { output, says, type Script } from '../scripted-engine.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { smallBatches } from '../batches/batch-service.fixture.js';
import { smallStore } from '../stored-responses/stored-response.fixture.js';

const openApiDocument = makeOpenApiDocument(['tiny', 'small']);
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema(openApiDocument, 'document');

/** A response of the document. */
interface Documented {
  readonly content: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>>;
}

/** Embeds and judges where it is asked to, and speaks elsewhere. */
const script: Script = (request, signal) => {
  if (request.pooling !== 'none')
    return [{ ...output([]), embedding: Float32Array.of(3, 4), finish: 'stop' }];
  const top = [...(request.rules?.reported ?? [])].map((token) => ({ token, logprob: -1 }));
  if (top.length > 0) return [{ ...output([65], 'length'), logprobs: [{ logprob: -1, top }] }];
  return says('Hi', '!')(request, signal);
};

const messages = [{ role: 'user', content: 'x' }];
const generated = { request_id: '7', choices: [{ index: 0, token_ids: [72, 105] }] };
const reranked = { query: 'x', documents: ['y', { text: 'z' }] };
const scored = { text_1: 'x', text_2: ['y', 'z'] };
const bodies: Partial<Record<RouteName, object>> = {
  chat: { messages },
  completions: { prompt: ['x', 'y'], logprobs: 1 },
  renderChat: { messages },
  renderCompletions: { prompt: ['x', 'y'] },
  derenderChat: { generate_response: generated },
  derenderCompletions: { generate_responses: [generated, generated] },
  responses: { input: 'x' },
  inputTokens: { input: 'x' },
  messages: { messages, max_tokens: 5 },
  countTokens: { messages },
  embeddings: { input: 'x' },
  ...{ rerank: reranked, rerankOfJina: reranked, rerankOfCohere: reranked },
  ...{ score: scored, scoreOfVllm: scored, classify: { input: ['x', 'y'] } },
  createBatch: { endpoint: '/v1/completions', completion_window: '24h' },
  createConversation: { items: [{ role: 'user', content: 'x' }], metadata: { a: 'b' } },
  updateConversation: { metadata: { a: 'c' } },
  addItems: { items: [{ role: 'user', content: 'x' }] },
  predict: { prompt: 'x' },
  infer: { inputs: [{ name: 'a', shape: [1], datatype: 'BYTES', data: ['x'] }] },
  generate: { prompt: 'x' },
  tokenize: { prompt: 'x', return_token_strs: true },
  detokenize: { tokens: [65] },
  applyTemplate: { messages },
  warmup: {},
};

/** A form with one request. */
const form = (): FormData => {
  const made = new FormData();
  const line = JSON.stringify({
    custom_id: '1',
    method: 'POST',
    url: '/v1/completions',
    body: { prompt: 'x' },
  });
  made.set('purpose', 'batch');
  made.set('file', new File([line], 'in.jsonl'));
  return made;
};

async function uploaded(of: ScriptedServer): Promise<string> {
  const response = await fetch(`${of.url}/v1/files`, { method: 'POST', body: form() });
  return ((await response.json()) as { id: string }).id;
}

async function batchOf(of: ScriptedServer): Promise<string> {
  const body = { ...bodies.createBatch, input_file_id: await uploaded(of) };
  return ((await (await of.post('/v1/batches', body)).json()) as { id: string }).id;
}

async function conversationOf(of: ScriptedServer): Promise<string> {
  return ((await (await of.post('/v1/conversations', {})).json()) as { id: string }).id;
}

/** Of what a path of this route has the id of. */
function idFor(of: ScriptedServer, path: string): Promise<string> {
  if (path.includes('/files/')) return uploaded(of);
  if (path.includes('/conversations/')) return conversationOf(of);
  return path.includes('/batches/') ? batchOf(of) : inBackground(of);
}

async function itemOf(of: ScriptedServer, conversation: string): Promise<string> {
  const added = await of.post(`/v1/conversations/${conversation}/items`, bodies.addItems);
  return ((await added.json()) as { first_id: string }).first_id;
}

/** Id of a response that runs, or ran. */
async function inBackground(of: ScriptedServer): Promise<string> {
  const queued = await of.post('/v1/responses', { input: 'x', background: true });
  return ((await queued.json()) as { id: string }).id;
}

let server: ScriptedServer;
let loading: ScriptedServer;
beforeAll(async () => {
  // Batches that do not run: one that is over cannot be cancelled.
  const batches = smallBatches({ isServing: () => false });
  server = await ScriptedServer.start({ storedResponses: smallStore(), batches, judges: true });
  server.script = script;
  loading = await ScriptedServer.start({ serving: false, batches: smallBatches() });
});
afterAll(() => Promise.all([server.stop(), loading.stop()]));

test.each([[[]], [['tiny', 'small']]])('it is an OpenAPI 3.1 document, with the names %j', async (names) => {
  const document = structuredClone(makeOpenApiDocument(names)) as object;
  const { valid, errors } = await new Validator().validate(document as Record<string, unknown>);
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
});

test('it is served as it is, and its bodies are those that requests are validated with', async () => {
  const served = await server.get('/openapi.json');
  expect(await served.json()).toEqual(JSON.parse(JSON.stringify(openApiDocument)));
  expect(openApiDocument.components.schemas).toMatchObject({
    ChatRequest: bodySchemas.chat,
    TokenizeRequest: bodySchemas.tokenize,
  });
});

test('what has alternatives says what it may be, which a refusal repeats', () => {
  const undescribed: string[] = [];
  const walk = (path: string, schema: object): void => {
    if ('anyOf' in schema && !('description' in schema)) undescribed.push(path);
    for (const [name, each] of Object.entries(schema) as [string, unknown][])
      if (typeof each === 'object' && each !== null) walk(`${path}.${name}`, each);
  };
  walk('body', bodySchemas);
  expect(undescribed).toEqual([]);
});

test('it has every route that is mounted, and no other', () => {
  const { stack } = makeApp(server.parts).router as unknown as {
    readonly stack: readonly { readonly route?: { path: string; methods: Record<string, true> } }[];
  };
  const mounted = stack.flatMap(({ route }) =>
    route === undefined
      ? []
      : Object.keys(route.methods).map((method) => `${method} ${route.path.replaceAll('\\', '')}`),
  );
  const documented = Object.entries(openApiDocument.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  );
  expect(mounted.length).toBeGreaterThan(20);
  expect(mounted.sort()).toEqual(documented.sort());
});

/** What the schema of a content type is of: of a stream, each event. */
function answersIn(type: string, text: string): unknown[] {
  if (type === 'application/json') return [JSON.parse(text)];
  if (type !== 'text/event-stream') return [text];
  const data = [...text.matchAll(/^data: (.*)$/gm)];
  expect(data.length).toBeGreaterThan(0);
  return data.map(([, each]) => ({ data: each }));
}

describe.each(mountedRoutes)('$method $path', ({ name, method, path, body, isUpload = false }) => {
  const operation = openApiDocument.paths[path]![method]!;
  const ask = async (of: ScriptedServer, model: string, body: unknown): Promise<Response> => {
    const id = path.includes('{id}') ? await idFor(of, path) : '';
    const item = path.includes('{item}') ? await itemOf(of, id) : '';
    const url = path.replace('{name}', model).replace('{id}', id).replace('{item}', item);
    if (isUpload) return fetch(of.url + url, { method, body: form() });
    return method === 'post' ? of.post(url, body) : fetch(of.url + url, { method });
  };

  /** What the document says of the answer's status. */
  async function expectDocumented(response: Response, status: number): Promise<void> {
    expect(response.status).toBe(status);
    const { responses } = operation;
    const documented = responses[status] ?? responses[`${String(status).slice(0, 1)}XX`];
    const { content } = documented as unknown as Documented;
    const type = response.headers.get('content-type')!.split(';')[0]!;
    const validate = ajv.compile({ $ref: `document${content[type]!.schema.$ref}` });
    for (const answer of answersIn(type, await response.text()))
      expect({ answer, valid: validate(answer), errors: validate.errors }).toMatchObject({ valid: true });
  }

  test('answers what the document says', async () => {
    const named = name === 'createBatch' ? { input_file_id: await uploaded(server) } : {};
    const asked = bodies[name] === undefined ? undefined : { ...bodies[name], ...named };
    await expectDocumented(await ask(server, 'tiny', asked), 200);
  });

  if (body !== null)
    test('says by the document that a field is unknown, and that no model is loaded yet', async () => {
      await expectDocumented(await ask(server, 'tiny', { surprise: 1 }), 400);
      await expectDocumented(await ask(loading, 'tiny', bodies[name]), 503);
    });
  else if (operation.responses['503'] !== undefined)
    test('says by the document that no model is loaded yet', async () => {
      await expectDocumented(await ask(loading, 'tiny', undefined), 503);
    });
  if (path.includes('{name}'))
    test('says by the document that a model is not served', async () => {
      await expectDocumented(await ask(server, 'other', bodies[name]), 404);
    });
});
