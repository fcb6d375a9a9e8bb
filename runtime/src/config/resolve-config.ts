// Engine-config file, environment and flags become one complete, typed value; nothing later reads the environment.
// A field of the file is the manifest's word: a flag or an environment variable may repeat it, not contradict it.
// Between the two of them the flag wins. Every violation is reported at once.

import { fewestBatchedTokens, misplacedHead } from '@llmservice/checkpoint';
import {
  FailureError,
  getField,
  setField,
  specDefaults,
  validateEngineConfig,
  type EngineConfig,
  type JsonObject,
} from '@llmservice/crds';
import { reasoningParsers } from '../request/text/think-ids.js';
import { toolCallParsers } from '../tools/dialect.js';
import type { S3Credentials } from '../weights/s3-client.js';
import { disaggregationViolations } from './disaggregation-settings.js';
import { nodeViolations } from './node-settings.js';
import { pipelineViolations } from './pipeline-settings.js';
import { serverSettings, type ServerSettings } from './server-settings.js';
import { settings, type Setting } from './settings.js';

export interface ResolvedConfig {
  readonly engineConfig: EngineConfig;
  readonly server: ServerSettings;
  /** Null: requests to S3 are not signed. */
  readonly s3Credentials: S3Credentials | null;
  /** Null: requests to the hub of models name nobody. */
  readonly hubToken: string | null;
  /** With the credentials of registries, as container tools keep them; null: requests name nobody. */
  readonly dockerConfig: string | null;
  /** For the host of a list of files; null: requests name nobody. */
  readonly listToken: string | null;
}

export interface ConfigSources {
  /** The parsed engine-config file with its path, for messages; null where there is none. */
  readonly file: { readonly path: string; readonly content: unknown } | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By flag, `--max-model-len` and so on. */
  readonly flags: Readonly<Record<string, string | undefined>>;
}

/** @throws FailureError InvalidEngineConfig with every violation */
export function resolveConfig({ file, env, flags }: ConfigSources): ResolvedConfig {
  const violations: string[] = [];
  const content = file === null ? {} : asObject(file, violations);
  const given = { env: withoutEmpty(env), flags };
  for (const setting of settings) {
    const value = readGiven(setting, given, violations);
    if (value !== undefined) merge(content, setting, value, file?.path ?? '', violations);
  }
  const server = resolveServer(given, violations);
  const s3Credentials = readCredentials(given.env, violations);
  fillDefaults(content);

  const validated = validateEngineConfig(content);
  if (!validated.ok) {
    violations.push(...validated.violations.map(({ path, message }) => `${nameField(path)} ${message}`));
  } else {
    checkRules(validated.value, violations);
    violations.push(
      ...nodeViolations(server, validated.value),
      ...pipelineViolations(server, validated.value),
      ...disaggregationViolations(server, validated.value),
    );
  }
  if (!validated.ok || violations.length > 0) {
    throw new FailureError('InvalidEngineConfig', violations.join('; '), { violations: violations.length });
  }
  const { HF_TOKEN: hubToken = null, DOCKER_AUTH_CONFIG: dockerConfig = null } = given.env;
  const { MODEL_LIST_TOKEN: listToken = null } = given.env;
  return { engineConfig: validated.value, server, s3Credentials, hubToken, dockerConfig, listToken };
}

interface Given {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, string | undefined>>;
}

/** A value as it was given, and the name that it was given by. */
interface GivenValue {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
}

function readGiven(
  { env, flag, read }: Pick<Setting, 'env' | 'flag' | 'read'>,
  given: Given,
  violations: string[],
): GivenValue | undefined {
  const fromFlag = given.flags[flag];
  const text = fromFlag ?? given.env[env];
  if (text === undefined) return undefined;
  const name = fromFlag === undefined ? env : flag;
  try {
    return { name, text, value: read(text) };
  } catch (error) {
    violations.push(`${name}=${text}: ${(error as Error).message}`);
    return undefined;
  }
}

/** Null and an absent field are unset: the manifest has no opinion. */
function merge(
  content: JsonObject,
  { field }: Setting,
  given: GivenValue,
  path: string,
  violations: string[],
): void {
  const set = getField(content, field);
  if (set === undefined || set === null) {
    setField(content, field, given.value);
  } else if (JSON.stringify(set) !== JSON.stringify(given.value)) {
    violations.push(`${given.name}=${given.text} contradicts ${field}=${JSON.stringify(set)} of ${path}`);
  }
}

function resolveServer(given: Given, violations: string[]): ServerSettings {
  const entries = serverSettings.map((setting) => {
    const value = readGiven(setting, given, violations);
    return [setting.key, value === undefined ? setting.fallback : value.value] as const;
  });
  return Object.fromEntries(entries) as unknown as ServerSettings;
}

function readCredentials(env: Given['env'], violations: string[]): S3Credentials | null {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  const sessionToken = env['AWS_SESSION_TOKEN'];
  if (accessKeyId === undefined && secretAccessKey === undefined) return null;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    violations.push('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together');
    return null;
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

/** The same defaults as the manifest's, by field; memory and context are measured where nobody says. */
export const engineDefaults: Readonly<Record<string, unknown>> = {
  'model.aliases': [],
  'model.s3.forcePathStyle': specDefaults.model.s3.forcePathStyle,
  'accelerator.kind': 'cpu',
  'accelerator.memoryBytesPerDevice': null,
  'parallelism.tensor': 1,
  'engine.maxModelLen': null,
  'engine.memoryUtilizationPercent': specDefaults.engine.memoryUtilizationPercent,
  'engine.maxNumSeqs': specDefaults.engine.maxNumSeqs,
  'engine.maxNumBatchedTokens': specDefaults.engine.maxNumBatchedTokens,
  'engine.blockSize': specDefaults.engine.blockSize,
  'engine.prefixCaching': specDefaults.engine.prefixCaching,
  'engine.dtype': specDefaults.engine.dtype,
  'engine.exactness': specDefaults.engine.exactness,
  'engine.kvCacheDtype': specDefaults.engine.kvCacheDtype,
  'engine.quantization': specDefaults.engine.quantization,
  'engine.speculative.method': specDefaults.engine.speculative.method,
  'engine.speculative.tokens': specDefaults.engine.speculative.tokens,
  'engine.collectives': specDefaults.engine.collectives,
  'engine.warmup.preset': specDefaults.engine.warmup.preset,
  'engine.warmup.shapes': [],
  'engine.warmup.timeLimitSeconds': specDefaults.engine.warmup.timeLimitSeconds,
  'engine.thinkingDefault': null,
  'engine.samplingDefaults': {},
  'auth.keysDir': null,
  'auth.maxReplicas': specDefaults.auth.maxReplicas,
  'auth.protectMetrics': specDefaults.auth.protectMetrics,
  'accounting.dir': null,
  drainTimeoutSeconds: specDefaults.rollout.drainTimeoutSeconds,
  noProgressTimeoutSeconds: specDefaults.rollout.noProgressTimeoutSeconds,
};

function fillDefaults(content: JsonObject): void {
  for (const [field, value] of Object.entries(engineDefaults)) {
    if (getField(content, field) === undefined) setField(content, field, structuredClone(value));
  }
}

/** Rules across fields that the schema cannot say. */
function checkRules({ accelerator, engine }: EngineConfig, violations: string[]): void {
  const rows = fewestBatchedTokens(engine.maxNumSeqs, engine.speculative);
  if (engine.maxNumBatchedTokens < rows) {
    const drafts = engine.speculative.method === 'none' ? '' : ' x (1 + engine.speculative.tokens)';
    violations.push(
      `${nameField('engine.maxNumBatchedTokens')} is ${String(engine.maxNumBatchedTokens)}, but must be at least ` +
        `engine.maxNumSeqs${drafts} + 64 = ${String(rows)}`,
    );
  }
  for (const shape of engine.warmup.shapes) {
    const [prompt = 0, max = 0] = shape.split(':').map(Number);
    if (prompt >= max)
      violations.push(
        `${nameField('engine.warmup.shapes')} has ${shape}, whose prompt leaves no token to generate`,
      );
  }
  checkParser('engine.toolCallParser', engine.toolCallParser, toolCallParsers, violations);
  checkParser('engine.reasoningParser', engine.reasoningParser, reasoningParsers, violations);
  const misplaced = misplacedHead(engine.speculative);
  if (misplaced !== null) violations.push(`${nameField('engine.speculative.uri')} ${misplaced}`);
  if (accelerator.kind === 'cpu' && engine.collectives === 'library') {
    violations.push(
      `${nameField('engine.collectives')} is library, which is for GPUs; ${nameField('accelerator.kind')} is cpu`,
    );
  }
  if (accelerator.kind === 'cpu') return;
  for (const field of ['dtype', 'exactness'] as const) {
    if (engine[field] !== 'float32') continue;
    violations.push(
      `${nameField(`engine.${field}`)} is float32, which is for CPUs; ${nameField('accelerator.kind')} is ${accelerator.kind}`,
    );
  }
}

function checkParser(
  field: string,
  name: string | undefined,
  parsers: ReadonlyMap<string, unknown>,
  violations: string[],
): void {
  if (name === undefined || parsers.has(name)) return;
  violations.push(`${nameField(field)} is ${name}, but must be one of ${[...parsers.keys()].join(', ')}`);
}

/** A field with the other names that it goes by, so that a message fits whatever the reader wrote. */
function nameField(field: string): string {
  const setting = settings.find((each) => each.field === field);
  return setting === undefined ? field : `${field} (${setting.flag}, ${setting.env})`;
}

function asObject(
  file: { readonly path: string; readonly content: unknown },
  violations: string[],
): JsonObject {
  const copy: unknown = structuredClone(file.content);
  if (typeof copy === 'object' && copy !== null && !Array.isArray(copy)) return copy as JsonObject;
  violations.push(`${file.path} must hold a JSON object`);
  return {};
}

/** Kubernetes has no way to unset a variable of an image but to empty it. */
function withoutEmpty(env: Given['env']): Given['env'] {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}
