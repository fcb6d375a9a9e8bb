// Validators of the contracts. Each takes an unknown value and gives either a complete, typed copy with the
// schema's defaults filled in, or every violation with its path. CEL rules are a table of their own (spec-rules.ts).

import { Ajv, type ErrorObject } from 'ajv';
import { engineConfigSchema } from './generated/engine-config-schema.js';
import type { EngineConfig } from './generated/engine-config.js';
import { llmGatewaySchema } from './generated/llm-gateway-schema.js';
import { llmServiceClassSchema } from './generated/llm-service-class-schema.js';
import type { LlmServiceClass } from './generated/llm-service-class.js';
import type { LlmGateway } from './generated/llm-gateway.js';
import { llmServiceSchema } from './generated/llm-service-schema.js';
import type { LlmService } from './generated/llm-service.js';

/** One thing that is wrong with a value. */
export interface Violation {
  /** Where, as a person writes it: `spec.engine.blockSize` or `spec.env[0].name`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly violations: readonly Violation[] };

const options = {
  allErrors: true,
  useDefaults: true,
  allowUnionTypes: true,
  formats: { int32: true, int64: true, 'date-time': true },
} as const;
const whole = new Ajv(options);
const pruning = new Ajv({ ...options, removeAdditional: true });

/** Checks an LlmService as somebody wrote it, and fills in the defaults. */
export function validateLlmService(value: unknown): Validated<LlmService> {
  return validate(whole, llmServiceSchema, value);
}

/**
 * Checks an LlmService as the API server gives it, fills in the defaults, and leaves out what it does not know: the CRD
 * may be newer, and the API server has filled in the defaults of its new fields.
 */
export function readLlmService(value: unknown): Validated<LlmService> {
  return validate(pruning, llmServiceSchema, value);
}

/** As `readLlmService`, of an LlmGateway. */
export function readLlmGateway(value: unknown): Validated<LlmGateway> {
  return validate(pruning, llmGatewaySchema, value);
}

/** Checks an LlmServiceClass as somebody wrote it. */
export function validateLlmServiceClass(value: unknown): Validated<LlmServiceClass> {
  return validate(whole, llmServiceClassSchema, value);
}

/** As `readLlmService`, of an LlmServiceClass. */
export function readLlmServiceClass(value: unknown): Validated<LlmServiceClass> {
  return validate(pruning, llmServiceClassSchema, value);
}

/** Checks what the operator hands the runtime. */
export function validateEngineConfig(value: unknown): Validated<EngineConfig> {
  return validate(whole, engineConfigSchema, value);
}

/** A schema is compiled when it is first needed, and kept: most processes need one of them, or none. */
function validate<T>(ajv: Ajv, schema: object, value: unknown): Validated<T> {
  const check = ajv.compile<T>(schema);
  const copy = structuredClone(value);
  if (check(copy)) return { ok: true, value: copy };
  return { ok: false, violations: (check.errors ?? []).map(violation) };
}

function violation({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject): Violation {
  const path = readablePath(instancePath);
  switch (keyword) {
    case 'required':
      return { path: child(path, String(params['missingProperty'])), message: 'is required' };
    case 'additionalProperties':
      return { path: child(path, String(params['additionalProperty'])), message: 'is not a known field' };
    case 'enum':
      return { path, message: `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}` };
    default:
      return { path, message };
  }
}

/** `/spec/env/0/name` as `spec.env[0].name`. */
export function readablePath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : child(path, part)), '');
}

const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
