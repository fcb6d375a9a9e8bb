// The OpenAPI 3.1 document of the server: the table of routes, the schemas that validate bodies, and those of answers.
// Pure: served at /openapi.json; `npm run generate` writes it, without model names, to runtime/openapi.json.

import { isAnthropicPath, isInferencePath } from '@llmservice/crds';
import { bodyKinds, bodySchemas, honouredOn } from '../../request/validate/body-schemas.js';
import { uploadFields } from '../../request/fields/upload-fields.js';
import type { JsonSchema, RouteKind } from '../../request/body/field-table.js';
import { answerSchemas, sharedSchemas, type AnswerName } from './answer-schemas.js';
import { mountedRoutes, type MountedRoute } from './route-table.js';
import { version } from './version.js';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, JsonSchema>>;
}

/** By path and method. */
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

interface OpenApiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  readonly paths: Paths;
  readonly security: readonly object[];
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
}

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } });
/** Content types of answers other than JSON. */
const otherTypes: Readonly<Partial<Record<AnswerName, string>>> = {
  Metrics: 'text/plain',
  Page: 'text/html',
  StreamCheck: 'text/event-stream',
  FileContent: 'application/octet-stream',
};
const bodyName = (kind: RouteKind): string => `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Request`;

/** KServe's list of bodies; a plain text stands for a body with that prompt. */
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

/** @param names served model names; empty: not known yet */
export function makeOpenApiDocument(names: readonly string[]): OpenApiDocument {
  return {
    openapi: '3.1.1',
    info: {
      title: 'LlmService',
      version,
      summary: 'A language model behind the OpenAI, KServe and vLLM protocols.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths: paths(names),
    // A server without keys requires none.
    security: [{}, { bearer: [] }, { header: [] }],
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
      schemas: {
        ...Object.fromEntries(bodyKinds.map((kind) => [bodyName(kind), bodySchemas[kind]])),
        PredictInstances: predictInstances,
        ...answerSchemas,
        ...sharedSchemas,
      },
    },
  };
}

function paths(names: readonly string[]): Paths {
  const all: Record<string, Record<string, Operation>> = {};
  for (const route of mountedRoutes)
    all[route.path] = { ...all[route.path], [route.method]: operation(route, names) };
  return all;
}

function operation(route: MountedRoute, names: readonly string[]): Operation {
  const { name, path, summary, body, query = {}, isUpload = false } = route;
  const parameters = [
    ...(path.includes('{name}') ? [nameParameter(names)] : []),
    ...(path.includes('{id}') ? [idParameter] : []),
    ...(path.includes('{item}') ? [itemParameter] : []),
    ...Object.entries(query).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      description,
      schema,
    })),
  ];
  return {
    operationId: path.startsWith('/openai/') ? `openai-${name}` : name,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: requestBody(body) }),
    ...(isUpload ? { requestBody: upload } : {}),
    responses: responses(route),
  };
}

/** Where binary outputs are asked for. */
const tensors: JsonSchema = {
  type: 'string',
  format: 'binary',
  description: 'JSON with the schema Inference, and behind it the tensors',
};

const upload: JsonSchema = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: Object.keys(uploadFields),
        additionalProperties: false,
        properties: uploadFields,
      },
    },
  },
};

const pathParameter = (name: string, description: string): JsonSchema => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', minLength: 1 },
});
const idParameter = pathParameter(
  'id',
  'The id of what is stored: a response, a conversation, a file or a batch',
);
const itemParameter = pathParameter('item', 'The id of an item of the conversation');

function nameParameter(names: readonly string[]): JsonSchema {
  return {
    name: 'name',
    in: 'path',
    required: true,
    description: 'One of the names of GET /v1/models',
    schema: { type: 'string', minLength: 1, ...(names.length === 0 ? {} : { enum: names }) },
  };
}

function requestBody(kind: RouteKind): JsonSchema {
  const single = ref(bodyName(kind));
  return {
    // A body without fields is optional.
    required: Object.keys(honouredOn[kind]).length > 0,
    content: json(kind === 'predict' ? { anyOf: [single, ref('PredictInstances')] } : single),
  };
}

function responses(route: MountedRoute): Operation['responses'] {
  const { path, answer, chunk, body, answersUnready, isUpload = false } = route;
  const otherType = otherTypes[answer];
  const errorName = errorNameOf(path);
  const error = (description: string): JsonSchema => ({ description, content: json(ref(errorName)) });
  return {
    '200': {
      description: 'The answer',
      content:
        otherType !== undefined
          ? { [otherType]: { schema: ref(answer) } }
          : {
              ...json(ref(answer)),
              ...(chunk === null ? {} : { 'text/event-stream': events(chunk) }),
              ...(answer === 'Inference' ? { 'application/octet-stream': { schema: tensors } } : {}),
            },
    },
    ...(answersUnready ? { '503': { description: 'Not ready', content: json(ref(answer)) } } : {}),
    '4XX': error('The server refuses the request: the error says what to send instead'),
    // Only routes with a body do work that can fail.
    ...(body === null && !isUpload
      ? {}
      : { '5XX': error('The service cannot answer at the moment: the error says whether to retry') }),
  };
}

function errorNameOf(path: string): string {
  if (isInferencePath(path)) return 'InferenceError';
  return isAnthropicPath(path) ? 'AnthropicError' : 'Error';
}

/** One event; OpenAPI 3.1 cannot describe a stream of events. */
function events(chunk: AnswerName): JsonSchema {
  const data = {
    type: 'string',
    description: chunk.endsWith('Event')
      ? `JSON with the schema ${chunk}; the event's name is its type.`
      : `JSON with the schema ${chunk} or, if generation fails after the first event, Error; the last event is [DONE].`,
  };
  return { schema: { type: 'object', required: ['data'], properties: { data } } };
}
