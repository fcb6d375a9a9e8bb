// The OpenAPI 3.1 document of the server: the table of routes, the schemas that bodies are validated with, and those of
// answers. Pure: served at /openapi.json and written to runtime/openapi.json by `npm run generate`.

import { bodyKinds, bodySchemas } from '../request/body-schemas.js';
import type { JsonSchema, RouteKind } from '../request/request-fields.js';
import { answerSchemas, sharedSchemas, type AnswerName } from './answer-schemas.js';
import { mountedRoutes, type MountedRoute } from './route-table.js';
import { version } from './version.js';

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } });
const bodyName = (kind: RouteKind): string => `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Request`;

/** KServe's list of bodies, in which a text stands for its prompt. */
const predictInstances = {
  type: 'object',
  required: ['instances'],
  additionalProperties: false,
  properties: {
    instances: {
      type: 'array',
      minItems: 1,
      maxItems: 256,
      items: { anyOf: [{ type: 'string' }, ref(bodyName('predict'))] },
    },
  },
};

const nameParameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'One of the names of GET /v1/models',
  schema: { type: 'string', minLength: 1 },
};

export const openApiDocument = {
  openapi: '3.1.1',
  info: {
    title: 'LlmService',
    version,
    summary: 'A language model behind the OpenAI, KServe and vLLM protocols.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: '/' }],
  paths: paths(),
  components: {
    schemas: {
      ...Object.fromEntries(bodyKinds.map((kind) => [bodyName(kind), bodySchemas[kind]])),
      PredictInstances: predictInstances,
      ...answerSchemas,
      ...sharedSchemas,
    },
  },
};

function paths(): JsonSchema {
  const all: Record<string, Record<string, JsonSchema>> = {};
  for (const route of mountedRoutes)
    all[route.path] = { ...all[route.path], [route.method]: operation(route) };
  return all;
}

function operation(route: MountedRoute): JsonSchema {
  const { name, path, summary, body } = route;
  return {
    operationId: path.startsWith('/openai/') ? `openai-${name}` : name,
    summary,
    ...(path.includes('{name}') ? { parameters: [nameParameter] } : {}),
    ...(body === null ? {} : { requestBody: requestBody(body) }),
    responses: responses(route),
  };
}

function requestBody(kind: RouteKind): JsonSchema {
  const single = ref(bodyName(kind));
  return {
    // A body without fields may stay away.
    required: Object.keys(bodySchemas[kind]['properties'] as object).length > 0,
    content: json(kind === 'predict' ? { anyOf: [single, ref('PredictInstances')] } : single),
  };
}

function responses({ answer, chunk, body, answersUnready }: MountedRoute): JsonSchema {
  const error = (description: string): JsonSchema => ({ description, content: json(ref('Error')) });
  return {
    '200': {
      description: 'The answer',
      content:
        answer === 'Metrics'
          ? { 'text/plain': { schema: ref(answer) } }
          : { ...json(ref(answer)), ...(chunk === null ? {} : { 'text/event-stream': events(chunk) }) },
    },
    ...(answersUnready ? { '503': { description: 'Not ready', content: json(ref(answer)) } } : {}),
    '4XX': error('The request cannot be served as it is: the error says what to send instead'),
    // Only what is generated can fail.
    ...(body === null
      ? {}
      : { '5XX': error('The service cannot answer now: the error says whether to try again') }),
  };
}

function events(chunk: AnswerName): JsonSchema {
  return {
    schema: {
      type: 'string',
      description: `Server-sent events: each \`data:\` is JSON with the schema ${chunk} or, if generating fails after the first, Error; the last is [DONE].`,
    },
  };
}
