// Turns the CRD's structural schema into plain JSON Schema (draft 7) that ajv and json-schema-to-typescript read.
// Objects become closed, as the API server prunes what it does not know; int-or-string and free-form objects keep
// their meaning. CEL rules have no counterpart: they are a table of their own (spec-rules.ts).

export interface JsonSchema {
  description?: string;
  title?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: (string | number)[];
  default?: unknown;
  required?: string[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  minimum?: number;
  /** OpenAPI 3.0: whether `minimum` itself is too small. JSON Schema: the bound. */
  exclusiveMinimum?: boolean | number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  'x-kubernetes-validations'?: { rule: string; message: string; fieldPath?: string }[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** Names of the generated interfaces, by the path of the object they describe. */
export type Titles = Readonly<Record<string, string>>;

export const serviceTitles: Titles = {
  '': 'LlmService',
  metadata: 'LlmServiceMetadata',
  spec: 'LlmServiceSpec',
  'spec.model': 'ModelSpec',
  'spec.model.s3': 'S3Spec',
  'spec.accelerator': 'AcceleratorSpec',
  'spec.engine': 'EngineSpec',
  'spec.engine.speculative': 'SpeculativeSpec',
  'spec.env[]': 'EnvVar',
  'spec.resources': 'ResourcesSpec',
  'spec.auth': 'AuthSpec',
  'spec.accounting': 'AccountingSpec',
  'spec.tolerations[]': 'Toleration',
  'spec.topologySpreadConstraints[]': 'TopologySpreadConstraint',
  status: 'LlmServiceStatus',
  'status.conditions[]': 'Condition',
  'status.loading': 'LoadingStatus',
  'status.lastFailure': 'LastFailure',
  'status.memoryPlan': 'MemoryPlanStatus',
  'status.class': 'ClassStatus',
};

export const gatewayTitles: Titles = {
  '': 'LlmGateway',
  spec: 'LlmGatewaySpec',
  'spec.models[]': 'GatewayModel',
  status: 'LlmGatewayStatus',
  'status.models[]': 'GatewayModelStatus',
};

export const classTitles: Titles = {
  '': 'LlmServiceClass',
  spec: 'LlmServiceClassSpec',
  'spec.defaults': 'ClassDefaults',
  'spec.bounds': 'ClassBounds',
};

/** What the API server puts into metadata, as far as the operator reads it. */
const metadata: JsonSchema = {
  title: 'LlmServiceMetadata',
  description: 'Standard object metadata.',
  type: 'object',
  required: ['name'],
  additionalProperties: true,
  properties: {
    name: { type: 'string' },
    namespace: { type: 'string' },
    uid: { type: 'string' },
    resourceVersion: { type: 'string' },
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string' },
    deletionTimestamp: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

/** JSON Schema of a complete object of a kind. Fields with a default are required: `useDefaults` has filled them in. */
export function fromCustomResource(
  openApiSchema: JsonSchema,
  apiVersion: string,
  kind: string,
  titles: Titles,
): JsonSchema {
  const root = convert(openApiSchema, '', titles);
  root.required = ['apiVersion', 'kind', 'metadata', ...(root.required ?? [])];
  root.properties = {
    ...root.properties,
    apiVersion: { type: 'string', enum: [apiVersion] },
    kind: { type: 'string', enum: [kind] },
    metadata,
  };
  return root;
}

/** Keywords that are converted one by one instead of being copied. */
const structural = new Set(['anyOf', 'items', 'properties', 'additionalProperties', 'required']);

function convert(schema: JsonSchema, path: string, titles: Titles): JsonSchema {
  const result: JsonSchema = {};
  const { anyOf, items, minimum } = schema;
  for (const [key, value] of Object.entries(schema) as [string, unknown][]) {
    if (!key.startsWith('x-kubernetes-') && !structural.has(key)) Object.assign(result, { [key]: value });
  }
  if (schema.exclusiveMinimum === true && minimum !== undefined) {
    delete result.minimum;
    result.exclusiveMinimum = minimum;
  }
  const title = titles[path];
  if (title !== undefined) result.title = title;
  if (anyOf !== undefined) result.type = anyOf.flatMap((alternative) => alternative.type ?? []);
  if (items !== undefined) result.items = convert(items, `${path}[]`, titles);
  if (schema.type === 'object') closeObject(schema, result, path, titles);
  return result;
}

function closeObject(schema: JsonSchema, result: JsonSchema, path: string, titles: Titles): void {
  const { properties = {}, additionalProperties } = schema;
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) {
    result.additionalProperties = true;
  } else if (typeof additionalProperties === 'object') {
    result.additionalProperties = convert(additionalProperties, `${path}{}`, titles);
  } else {
    result.additionalProperties = false;
    result.properties = {};
    for (const [name, property] of Object.entries(properties)) {
      result.properties[name] = convert(property, path === '' ? name : `${path}.${name}`, titles);
    }
    const defaulted = Object.keys(properties).filter((name) => properties[name]?.default !== undefined);
    result.required = [...new Set([...(schema.required ?? []), ...defaulted])];
  }
}

/** What a schema's defaults make of an object with nothing in it; what is not an object: its default. */
export function defaultsOf(schema: JsonSchema): unknown {
  if (schema.properties === undefined) return schema.default;
  const entries = Object.entries(schema.properties)
    // An object that is neither required nor filled in is not there, and neither are the defaults within.
    .filter(([name, property]) => property.default !== undefined || schema.required?.includes(name) === true)
    .map(([name, property]) => [name, defaultsOf(property)] as const)
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}
