import { describe, expect, test } from '@jest/globals';
import { FailureError } from '@llmservice/crds';
import { thrownBy } from '../../../crds/src/thrown-by.fixture.js';
import { resolveConfig, type ConfigSources } from './resolve-config.js';

const file = (engine: object = {}): ConfigSources['file'] => ({
  path: '/etc/llmservice/engine-config.json',
  content: {
    model: { uri: 's3://bucket/model/', name: 'm', aliases: [] },
    accelerator: { kind: 'cpu', memoryBytesPerDevice: null },
    parallelism: { tensor: 1 },
    engine: {
      maxModelLen: null,
      memoryUtilizationPercent: 85,
      maxNumSeqs: 64,
      maxNumBatchedTokens: 2048,
      blockSize: 64,
      prefixCaching: true,
      dtype: 'auto',
      kvCacheDtype: 'auto',
      quantization: 'none',
      speculative: { method: 'none', tokens: 3 },
      ...engine,
    },
    drainTimeoutSeconds: 120,
    noProgressTimeoutSeconds: 300,
  },
});
const resolve = (sources: Partial<ConfigSources>) =>
  resolveConfig({ file: null, env: {}, flags: {}, ...sources });
const refusal = (sources: Partial<ConfigSources>): FailureError =>
  thrownBy(FailureError, () => resolve(sources));

describe('resolveConfig', () => {
  test('reads every environment name of the reference deployment', () => {
    const { engineConfig, server } = resolve({
      env: {
        MODEL_NAME: 'qwen36-27b',
        STORAGE_URI: 's3://wmf-ml-models/llm/Qwen3.6-27B-FP8/',
        DTYPE: 'auto',
        MAX_MODEL_LEN: '32768',
        GPU_MEMORY_UTILIZATION: '0.85',
        TENSOR_PARALLEL_SIZE: '2',
        MAX_NUM_BATCHED_TOKENS: '32768',
        MAX_NUM_SEQS: '256',
        BLOCK_SIZE: '64',
        QUANTIZATION: 'fp8',
        SPECULATIVE_METHOD: 'mtp',
        NUM_SPECULATIVE_TOKENS: '2',
        SPECULATIVE_URI: 's3://wmf-ml-models/llm/Qwen3.6-27B-FP8/',
        KV_CACHE_DTYPE: 'fp8_e4m3',
        TRUST_REMOTE_CODE: 'True',
      },
    });
    expect(engineConfig.model).toMatchObject({
      name: 'qwen36-27b',
      uri: 's3://wmf-ml-models/llm/Qwen3.6-27B-FP8/',
    });
    expect(engineConfig.parallelism).toEqual({ tensor: 2 });
    expect(engineConfig.engine).toEqual({
      maxModelLen: 32768,
      memoryUtilizationPercent: 85,
      maxNumSeqs: 256,
      maxNumBatchedTokens: 32768,
      blockSize: 64,
      prefixCaching: true,
      dtype: 'auto',
      exactness: 'auto',
      kvCacheDtype: 'fp8',
      quantization: 'fp8',
      speculative: { method: 'mtp', tokens: 2, uri: 's3://wmf-ml-models/llm/Qwen3.6-27B-FP8/' },
      collectives: 'auto',
      warmup: { preset: 'auto', shapes: [], timeLimitSeconds: 300 },
      thinkingDefault: null,
      samplingDefaults: {},
    });
    expect(server.trustRemoteCode).toBe(true);
  });

  test('fills in the defaults of the manifest', () => {
    const { engineConfig, server, s3Credentials } = resolve({
      flags: { '--model': '/models/x', '--name': 'x' },
    });
    expect(engineConfig.engine).toMatchObject({ maxModelLen: null, maxNumSeqs: 64, blockSize: 64 });
    expect(engineConfig.drainTimeoutSeconds).toBe(120);
    expect(server).toMatchObject({ port: 8080, weightsDir: '/var/lib/llmservice/models' });
    expect(s3Credentials).toBeNull();
  });

  test('asks for no key and writes no accounting log unless configured where they are', () => {
    const model = { '--model': '/models/x', '--name': 'x' };
    const { auth, accounting } = resolve({ flags: model }).engineConfig;
    expect([auth, accounting]).toEqual([
      { keysDir: null, maxReplicas: 1, protectMetrics: false },
      { dir: null },
    ]);
    const resolved = resolve({
      flags: { ...model, '--keys-dir': '/keys', '--protect-metrics': 'true' },
      env: { MAX_REPLICAS: '3', ACCOUNTING_DIR: '/log' },
    }).engineConfig;
    expect(resolved.auth).toEqual({ keysDir: '/keys', maxReplicas: 3, protectMetrics: true });
    expect(resolved.accounting).toEqual({ dir: '/log' });
  });

  test('a flag wins over the environment', () => {
    const { engineConfig } = resolve({
      env: { MAX_NUM_SEQS: '8', MODEL_NAME: 'a', STORAGE_URI: '/m' },
      flags: { '--max-num-seqs': '4' },
    });
    expect(engineConfig.engine.maxNumSeqs).toBe(4);
  });

  test('an environment variable may repeat a field of the file, or set one that is null', () => {
    const { engineConfig } = resolve({ file: file(), env: { MAX_NUM_SEQS: '64', MAX_MODEL_LEN: '4096' } });
    expect(engineConfig.engine).toMatchObject({ maxNumSeqs: 64, maxModelLen: 4096 });
  });

  test.each([
    ['env', { env: { MAX_NUM_SEQS: '32' } }, 'MAX_NUM_SEQS=32 contradicts engine.maxNumSeqs=64'],
    ['flag', { flags: { '--block-size': '16' } }, '--block-size=16 contradicts engine.blockSize=64'],
  ])('a contradiction by %s names both', (_, sources, message) => {
    const failure = refusal({ file: file(), ...sources });
    expect(failure.reason).toBe('InvalidEngineConfig');
    expect(failure.message).toContain(`${message} of /etc/llmservice/engine-config.json`);
  });

  test('reports every violation, each with the names that its setting goes by', () => {
    const { message, detail } = refusal({
      env: { MAX_NUM_SEQS: 'many', BLOCK_SIZE: '48', GPU_MEMORY_UTILIZATION: '85', LLMSERVICE_PORT: '-1' },
    });
    expect(message).toContain('MAX_NUM_SEQS=many: expected a whole number');
    expect(message).toContain('GPU_MEMORY_UTILIZATION=85: expected a number above 0');
    expect(message).toContain('LLMSERVICE_PORT=-1');
    expect(message).toContain('engine.blockSize (--block-size, BLOCK_SIZE) must be one of 16, 32, 64, 128');
    expect(message).toContain('model.uri (--model, STORAGE_URI) is required');
    expect(message).toContain('model.name (--name, MODEL_NAME) is required');
    expect(detail).toEqual({ violations: 6 });
  });

  test.each([
    [{ maxNumBatchedTokens: 100 }, 'at least engine.maxNumSeqs + 64 = 128'],
    [
      { maxNumBatchedTokens: 319, speculative: { method: 'ngram', tokens: 3 } },
      'at least engine.maxNumSeqs x (1 + engine.speculative.tokens) + 64 = 320',
    ],
    [
      { speculative: { method: 'medusa', tokens: 3 } },
      'engine.speculative.method (--speculative-method, SPECULATIVE_METHOD) must be one of none, ngram, mtp, eagle3, draft_model',
    ],
    [
      { speculative: { method: 'eagle3', tokens: 3 } },
      'engine.speculative.uri (--speculative-uri, SPECULATIVE_URI) is missing: method eagle3 takes its draft model from there',
    ],
    [
      { speculative: { method: 'ngram', tokens: 3, uri: 's3://models/fp8/' } },
      'engine.speculative.uri (--speculative-uri, SPECULATIVE_URI) names where methods mtp, eagle3 and draft_model take what drafts from',
    ],
    [{ dtype: 'float16' }, 'engine.dtype (--dtype, DTYPE) must be one of auto, bfloat16, float32'],
    [{ exactness: 'bfloat16' }, 'engine.exactness (--exactness, EXACTNESS) must be one of auto, float32'],
    [
      { quantization: 'int4' },
      'engine.quantization (--quantization, QUANTIZATION) must be one of none, fp8, int8',
    ],
    [
      { collectives: 'nccl' },
      'engine.collectives (--collectives, COLLECTIVES) must be one of auto, own, library',
    ],
    [
      { collectives: 'library' },
      'engine.collectives (--collectives, COLLECTIVES) is library, which is for GPUs; ' +
        'accelerator.kind (--accelerator, ACCELERATOR) is cpu',
    ],
    [
      { toolCallParser: 'openai' },
      'engine.toolCallParser (--tool-call-parser, TOOL_CALL_PARSER) is openai, but must be one of hermes, qwen3_coder, ',
    ],
    [
      { toolsWithoutTemplate: 'ignore' },
      'engine.toolsWithoutTemplate (--tools-without-template, TOOLS_WITHOUT_TEMPLATE) must be one of describe, refuse',
    ],
    [
      { reasoningParser: 'none' },
      'engine.reasoningParser (--reasoning-parser, REASONING_PARSER) is none, but must be one of deepseek_r1, gemma4, glm45, mistral, ',
    ],
    [{ surprise: 1 }, 'engine.surprise is not a known field'],
  ])('refuses %j', (engine, message) => expect(refusal({ file: file(engine) }).message).toContain(message));

  test.each(['dtype', 'exactness'])('GPUs have no %s float32', (field) => {
    const flags = { '--model': '/m', '--name': 'm', '--accelerator': 'cuda', [`--${field}`]: 'float32' };
    expect(refusal({ flags }).message).toContain(
      `engine.${field} (--${field}, ${field.toUpperCase()}) is float32,`,
    );
  });

  test('half a pair of S3 keys is refused', () => {
    expect(refusal({ file: file(), env: { AWS_ACCESS_KEY_ID: 'k' } }).message).toContain(
      'must be set together',
    );
  });

  test('an emptied variable counts as unset', () => {
    expect(resolve({ file: file(), env: { MAX_NUM_SEQS: '' } }).engineConfig.engine.maxNumSeqs).toBe(64);
  });
});
