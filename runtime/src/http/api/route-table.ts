// Every route of the server: app.ts mounts this table, the OpenAPI document and GET / list it, all else is 404 or 405.

import { routes } from '@llmservice/crds';
import type { RouteKind } from '../../request/body/field-table.js';
import type { AnswerName } from './answer-schemas.js';
import type { QueryTable } from './read-query.js';
import { listBatchesQuery, listFilesQuery } from './batch-queries.js';
import { itemQuery, itemsQuery, retrieveQuery } from './response-queries.js';

export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** As OpenAPI writes it; paths under /v1 repeat under /openai. */
  readonly path: string;
  readonly summary: string;
  /** Kind of the body, which has its schema; null: there is no body. */
  readonly body: RouteKind | null;
  readonly answer: AnswerName;
  /** Schema of each server-sent event where the body has `stream: true`; null: the route does not stream. */
  readonly chunk: AnswerName | null;
  /** Whether 503 has the schema of the answer, not that of an error. */
  readonly answersUnready: boolean;
  /** Parameters of the URL's query, where it may have some. */
  readonly query?: QueryTable;
  /** Whether the body is a form with a file. */
  readonly isUpload?: boolean;
}

const get = (path: string, summary: string, answer: AnswerName, answersUnready = false): Route => ({
  method: 'get',
  path,
  summary,
  body: null,
  answer,
  chunk: null,
  answersUnready,
});

const post = (
  path: string,
  summary: string,
  body: RouteKind,
  answer: AnswerName,
  chunk: AnswerName | null = null,
): Route => ({ method: 'post', path, summary, body, answer, chunk, answersUnready: false });

export const routeTable = {
  root: get('/', 'Name, version, state and models of the server, and the list of routes', 'Root'),
  openApi: get('/openapi.json', 'OpenAPI document of the server', 'OpenApi'),
  version: get('/version', 'Version of the server and of its engine', 'Version'),
  health: get(
    routes.health,
    'State, model, load, engine and failure; without a key, where there are keys, only state and load; 503 unless the server is ready',
    'Health',
    true,
  ),
  ready: get(routes.ready, 'Readiness probe: same as /health', 'Health', true),
  live: get(routes.live, 'Liveness probe: the process responds', 'Alive'),
  startup: get(routes.startup, 'Startup probe: the process responds', 'Alive'),
  inferenceReady: get('/v2/health/ready', 'Readiness in the Open Inference Protocol', 'InferenceReady', true),
  inferenceLive: get('/v2/health/live', 'Liveness in the Open Inference Protocol', 'InferenceLive'),
  inferenceServer: get(
    '/v2',
    'Name and version of the server in the Open Inference Protocol',
    'InferenceServer',
  ),
  inferenceModel: get(
    '/v2/models/{name}',
    'One served model name in the Open Inference Protocol',
    'InferenceModel',
  ),
  inferenceModelReady: get(
    '/v2/models/{name}/ready',
    'Readiness of a served model name in the Open Inference Protocol; 503 until it is ready',
    'InferenceModelReady',
    true,
  ),
  infer: post(
    '/v2/models/{name}/infer',
    'Complete prompts in the Open Inference Protocol: one BYTES tensor of them, and the fields of :predict as parameters',
    'infer',
    'Inference',
  ),
  load: get('/load', 'Number of requests in progress', 'Load'),
  metrics: get(routes.metrics, 'Metrics for Prometheus', 'Metrics'),
  ui: get('/ui', 'Status page with a chat box', 'Page'),
  uiStatus: get('/ui/status', 'Data of the status page', 'UiStatus'),
  chat: post(
    '/v1/chat/completions',
    'Create a chat completion',
    'chat',
    'ChatCompletion',
    'ChatCompletionChunk',
  ),
  completions: post(
    '/v1/completions',
    'Create text completions',
    'completions',
    'Completion',
    'CompletionChunk',
  ),
  renderChat: post(
    '/v1/chat/completions/render',
    'Token IDs of the prompt that a chat makes',
    'chat',
    'RenderedPrompt',
  ),
  renderCompletions: post(
    '/v1/completions/render',
    'Token IDs of the prompts of text completions',
    'completions',
    'RenderedPrompts',
  ),
  derenderChat: post(
    '/v1/chat/completions/derender',
    'Chat completion of token IDs that another engine generated',
    'derenderChat',
    'ChatCompletion',
  ),
  derenderCompletions: post(
    '/v1/completions/derender',
    'Text completions of token IDs that another engine generated',
    'derenderCompletions',
    'Completion',
  ),
  responses: post(
    '/v1/responses',
    "Create a response in OpenAI's Responses API",
    'responses',
    'Response',
    'ResponseEvent',
  ),
  getResponse: {
    ...get(
      '/v1/responses/{id}',
      'One stored response, or the events of one that runs in the background',
      'Response',
    ),
    chunk: 'ResponseEvent',
    query: retrieveQuery,
  },
  deleteResponse: {
    ...get('/v1/responses/{id}', 'Delete a stored response; one that runs is cancelled', 'DeletedResponse'),
    method: 'delete',
  },
  cancelResponse: {
    ...get('/v1/responses/{id}/cancel', 'Cancel a response that runs in the background', 'Response'),
    method: 'post',
  },
  inputItems: {
    ...get(
      '/v1/responses/{id}/input_items',
      'Items that a stored response was generated from',
      'ResponseItems',
    ),
    query: itemsQuery,
  },
  inputTokens: post(
    '/v1/responses/input_tokens',
    "Count the tokens of a prompt in OpenAI's Responses API",
    'responses',
    'InputTokenCount',
  ),
  createConversation: post(
    '/v1/conversations',
    'Create a conversation that responses are added to',
    'conversations',
    'Conversation',
  ),
  getConversation: get('/v1/conversations/{id}', 'One stored conversation', 'Conversation'),
  updateConversation: post(
    '/v1/conversations/{id}',
    'Replace the metadata of a conversation',
    'conversation',
    'Conversation',
  ),
  deleteConversation: {
    ...get('/v1/conversations/{id}', 'Delete a conversation; its responses stay', 'DeletedConversation'),
    method: 'delete',
  },
  addItems: {
    ...post(
      '/v1/conversations/{id}/items',
      'Add items to a conversation',
      'conversationItems',
      'ResponseItems',
    ),
    query: itemQuery,
  },
  listItems: {
    ...get('/v1/conversations/{id}/items', 'Items of a conversation', 'ResponseItems'),
    query: itemsQuery,
  },
  getItem: {
    ...get('/v1/conversations/{id}/items/{item}', 'One item of a conversation', 'ResponseItem'),
    query: itemQuery,
  },
  deleteItem: {
    ...get('/v1/conversations/{id}/items/{item}', 'Delete an item of a conversation', 'Conversation'),
    method: 'delete',
  },
  messages: post(
    '/v1/messages',
    "Create a message in Anthropic's Messages API",
    'messages',
    'Message',
    'MessageEvent',
  ),
  countTokens: post(
    '/v1/messages/count_tokens',
    "Count the tokens of a prompt in Anthropic's Messages API",
    'countTokens',
    'TokenCount',
  ),
  embeddings: post('/v1/embeddings', 'Create embeddings of texts', 'embeddings', 'Embeddings'),
  rerank: post('/v1/rerank', 'Order documents by how well they answer a query', 'rerank', 'Reranked'),
  rerankOfJina: post('/rerank', 'Same as /v1/rerank', 'rerank', 'Reranked'),
  rerankOfCohere: post('/v2/rerank', 'Same as /v1/rerank', 'rerank', 'Reranked'),
  score: post('/v1/score', 'Score pairs of texts', 'score', 'Scores'),
  scoreOfVllm: post('/score', 'Same as /v1/score', 'score', 'Scores'),
  classify: post('/classify', 'Probabilities of the labels of texts', 'classify', 'Classes'),
  uploadFile: {
    ...get('/v1/files', 'Store a file of requests for a batch', 'File'),
    method: 'post',
    isUpload: true,
  },
  listFiles: { ...get('/v1/files', 'List the stored files', 'Files'), query: listFilesQuery },
  getFile: get('/v1/files/{id}', 'One stored file', 'File'),
  fileContent: get('/v1/files/{id}/content', 'Content of a stored file', 'FileContent'),
  deleteFile: { ...get('/v1/files/{id}', 'Delete a stored file', 'DeletedFile'), method: 'delete' },
  createBatch: post(
    '/v1/batches',
    'Answer the requests of a stored file, at low priority',
    'batches',
    'Batch',
  ),
  listBatches: { ...get('/v1/batches', 'List the batches', 'Batches'), query: listBatchesQuery },
  getBatch: get('/v1/batches/{id}', 'One batch, with how far it is', 'Batch'),
  cancelBatch: {
    ...get('/v1/batches/{id}/cancel', 'Cancel a batch; what it has answered stays', 'Batch'),
    method: 'post',
  },
  listModels: get('/v1/models', 'List the served model names', 'Models'),
  getModel: get(
    '/v1/models/{name}',
    'One served model name and its readiness; 503 until it is ready',
    'Model',
    true,
  ),
  predict: post(
    '/v1/models/{name}:predict',
    'Complete prompts in the KServe V1 protocol',
    'predict',
    'Prediction',
  ),
  generate: post(
    '/generate',
    'Complete one text, as structured output if there is a schema',
    'generate',
    'Generated',
  ),
  tokenize: post('/tokenize', 'Token IDs of a text or of a conversation', 'tokenize', 'Tokens'),
  detokenize: post('/detokenize', 'Text of token IDs', 'detokenize', 'Prompt'),
  tokenizerInfo: get(
    '/tokenizer_info',
    "The checkpoint's tokenizer_config.json, with special tokens as texts and the chat template",
    'TokenizerInfo',
  ),
  applyTemplate: post(
    '/apply-template',
    'Prompt that the chat template renders from a conversation',
    'template',
    'Prompt',
  ),
  streamCheck: {
    ...get(
      routes.streamCheck,
      'Events at a known pace, to detect proxies that buffer streams',
      'StreamCheck',
    ),
    method: 'post',
  },
  warmup: post('/warmup', 'Run one short generation', 'warmup', 'WarmedUp'),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routeTable;

/** A route with each path that it is mounted at. */
export interface MountedRoute extends Route {
  readonly name: RouteName;
}

export const mountedRoutes: readonly MountedRoute[] = (
  Object.entries(routeTable) as [RouteName, Route][]
).flatMap(([name, route]) =>
  (route.path.startsWith('/v1/') ? [route.path, `/openai${route.path}`] : [route.path]).map((path) => ({
    ...route,
    name,
    path,
  })),
);
