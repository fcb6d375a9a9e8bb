// Every route of the server: app.ts mounts this table, the OpenAPI document and GET / list it, and what is in neither
// is answered from it with 404 or 405.

import { routes } from '@llmservice/crds';
import type { RouteKind } from '../../request/body/request-fields.js';
import type { AnswerName } from './answer-schemas.js';

export interface Route {
  readonly method: 'get' | 'post';
  /** As OpenAPI writes it; what begins with /v1 repeats under /openai. */
  readonly path: string;
  readonly summary: string;
  /** Whose schema the body has; null: there is none. */
  readonly body: RouteKind | null;
  readonly answer: AnswerName;
  /** Whether `stream: true` in the body asks for server-sent events, each with the schema of this answer; null: no. */
  readonly chunk: AnswerName | null;
  /** Whether 503 has the answer's schema too, and not an error's. */
  readonly answersUnready: boolean;
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

/** Anthropic's protocol, which has errors of its own. */
const anthropicPaths = ['/v1/messages', '/v1/messages/count_tokens'];

/** @param path with or without the prefix under which it repeats */
export const isAnthropicPath = (path: string): boolean =>
  anthropicPaths.includes(
    path
      .toLowerCase()
      .replace(/^\/openai\//, '/')
      .replace(/\/$/, ''),
  );

const post = (
  path: string,
  summary: string,
  body: RouteKind,
  answer: AnswerName,
  chunk: AnswerName | null = null,
): Route => ({ method: 'post', path, summary, body, answer, chunk, answersUnready: false });

export const routeTable = {
  root: get('/', 'What is served here, and the list of routes', 'Root'),
  openApi: get('/openapi.json', 'This document', 'OpenApi'),
  version: get('/version', 'Version of the server and of its engine', 'Version'),
  health: get(
    routes.health,
    'State of model, load and engine, of which requests without a key learn the state and the load; 503 unless requests are served',
    'Health',
    true,
  ),
  ready: get(routes.ready, 'Readiness probe: as /health', 'Health', true),
  live: get(routes.live, 'Liveness probe: the process answers', 'Alive'),
  startup: get(routes.startup, 'Startup probe: the process answers', 'Alive'),
  inferenceReady: get(
    '/v2/health/ready',
    'Readiness as the Open Inference Protocol asks it',
    'InferenceReady',
    true,
  ),
  inferenceLive: get('/v2/health/live', 'Liveness as the Open Inference Protocol asks it', 'InferenceLive'),
  metrics: get(routes.metrics, 'Metrics for Prometheus', 'Metrics'),
  ui: get('/ui', 'A page that shows what the server does, and a chat box', 'Page'),
  uiStatus: get('/ui/status', 'What the page shows', 'UiStatus'),
  chat: post(
    '/v1/chat/completions',
    'Answer a conversation',
    'chat',
    'ChatCompletion',
    'ChatCompletionChunk',
  ),
  completions: post('/v1/completions', 'Continue texts', 'completions', 'Completion', 'Completion'),
  responses: post(
    '/v1/responses',
    "Answer a conversation, by OpenAI's Responses",
    'responses',
    'Response',
    'ResponseEvent',
  ),
  messages: post(
    '/v1/messages',
    "Answer a conversation, by Anthropic's Messages",
    'messages',
    'Message',
    'MessageEvent',
  ),
  countTokens: post(
    '/v1/messages/count_tokens',
    "Count the tokens of a prompt, by Anthropic's Messages",
    'countTokens',
    'TokenCount',
  ),
  embeddings: post('/v1/embeddings', 'Embed texts', 'embeddings', 'Embeddings'),
  listModels: get('/v1/models', 'The names that the model answers to', 'Models'),
  getModel: get(
    '/v1/models/{name}',
    'One of the names, and whether it is ready; 503 until it is',
    'Model',
    true,
  ),
  predict: post('/v1/models/{name}:predict', 'Answer prompts, as KServe asks', 'predict', 'Prediction'),
  generate: post(
    '/generate',
    'Continue one text, in the form of a schema if there is one',
    'generate',
    'Generated',
  ),
  tokenize: post('/tokenize', 'Token ids of a text or of a conversation', 'tokenize', 'Tokens'),
  detokenize: post('/detokenize', 'The text of token ids', 'detokenize', 'Prompt'),
  applyTemplate: post(
    '/apply-template',
    'The prompt that the chat template makes of a conversation',
    'template',
    'Prompt',
  ),
  streamCheck: {
    method: 'post',
    path: routes.streamCheck,
    summary: 'A few events at a known pace, to see whether what lies between keeps them back',
    body: null,
    answer: 'StreamCheck',
    chunk: null,
    answersUnready: false,
  },
  warmup: post('/warmup', 'Run one short generation', 'warmup', 'WarmedUp'),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routeTable;

/** Where each route is found. */
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
