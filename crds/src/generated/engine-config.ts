// Generated from crds/engine-config.schema.json by `npm run generate`. Do not edit.

/**
 * Configuration that the operator passes to the runtime. Every field is present: defaults are applied before it is written.
 */
export interface EngineConfig {
  model: {
    /**
     * Folder or .gguf file, as s3://bucket/prefix/, hf://owner/name@revision, oci://registry/repository:tag, file:///path or an absolute path.
     */
    uri: string;
    /**
     * Served model name.
     */
    name: string;
    /**
     * @maxItems 16
     */
    aliases: string[];
    s3?: {
      endpoint?: string;
      region?: string;
      forcePathStyle?: boolean;
    };
    hub?: {
      endpoint?: string;
    };
    oci?: {
      plainHttp?: boolean;
      /**
       * The artifact of model.uri is mounted, and not pulled. Absent: it is pulled.
       */
      mounted?: boolean;
    };
    /**
     * Present: the weights folder is shared with other pods. Absent: it belongs to this pod alone.
     */
    cache?: {
      /**
       * Name of the folder outside of the pod, for messages.
       */
      volume: string;
      /**
       * Max size; beyond it, unused checkpoints are evicted. null: the size of the disk.
       */
      maxBytes: number | null;
      /**
       * When files are compared with their digests: after the pull, or at every start too.
       */
      verify: 'onPull' | 'always';
      /**
       * Identity of the checkpoints when the revision was planned; null: unknown.
       */
      pins: {
        model: string | null;
        head: string | null;
      };
    };
  };
  accelerator: {
    /**
     * Backend of the engine.
     */
    kind: 'cpu' | 'cuda' | 'hip';
    /**
     * Memory of one device; on the CPU, the memory that the engine plans with. null: the engine measures it.
     */
    memoryBytesPerDevice: number | null;
  };
  parallelism: {
    tensor: number;
    /**
     * Stages, each of tensor ranks; absent: 1.
     */
    pipeline?: number;
  };
  engine: {
    /**
     * Max tokens of prompt and output together; null: the largest that fits.
     */
    maxModelLen: number | null;
    memoryUtilizationPercent: number;
    maxNumSeqs: number;
    /**
     * At least maxNumSeqs + 64; with speculative decoding at least maxNumSeqs x (1 + speculative.tokens) + 64.
     */
    maxNumBatchedTokens: number;
    /**
     * Tokens per KV block.
     */
    blockSize: 16 | 32 | 64 | 128;
    /**
     * Whether a prompt may reuse the cached prefix that it shares with an earlier prompt.
     */
    prefixCaching: boolean;
    /**
     * Data type of the KV cache and of unquantized weights in memory; auto: bfloat16. F16 matrices stay F16 unless it is float32.
     */
    dtype: 'auto' | 'bfloat16' | 'float32';
    /**
     * Data type of activations where they multiply a matrix on the CPU; auto: BF16 where the machine has AVX-512 BF16, but for F16 matrices; 16 bits in fixed point on AVX2 alone, for Q4_K and Q6_K; otherwise float32.
     */
    exactness: 'auto' | 'float32';
    /**
     * Data type of the KV cache; auto: dtype. fp8 is e4m3 with one scale per token and head.
     */
    kvCacheDtype: 'auto' | 'fp8';
    /**
     * Quantization of unquantized matrices at load.
     */
    quantization: 'none' | 'fp8' | 'int8';
    /**
     * Speculative decoding: several draft tokens are verified in one step. Answers do not depend on it.
     */
    speculative: {
      /**
       * Source of draft tokens. ngram: the text itself; mtp: the checkpoint's layer for multi-token prediction; eagle3: an EAGLE-3 draft model; draft_model: a smaller model with the same tokenizer.
       */
      method: 'none' | 'ngram' | 'mtp' | 'eagle3' | 'draft_model';
      /**
       * Max draft tokens per sequence and step.
       */
      tokens: number;
      /**
       * For method mtp: another release of the model, whose layer drafts where the checkpoint has none. For methods eagle3 and draft_model: the draft model.
       */
      uri?: string;
    };
    /**
     * Implementation of all-reduce between GPU ranks. own: the engine's, in rank order; library: NCCL or RCCL; auto: own where devices can access each other's memory, otherwise library.
     */
    collectives: 'auto' | 'own' | 'library';
    /**
     * Whether the loaded engine is compared with a reference before it is ready; absent: it is.
     */
    selfCheck?: boolean;
    /**
     * Warm-up steps that the engine runs before it is ready. Answers do not depend on it.
     */
    warmup: {
      /**
       * Shapes to warm up. auto: contexts up to 8,192 tokens on GPUs, none on CPUs.
       */
      preset: 'auto' | 'short' | 'long' | 'all' | 'none';
      /**
       * PROMPT:MAX: tokens of the prompt, and of prompt and output together.
       *
       * @maxItems 32
       */
      shapes: string[];
      /**
       * Seconds after which no further shape starts.
       */
      timeLimitSeconds: number;
    };
    /**
     * How the model writes calls of tools, by vLLM's name; absent: as the chat template writes them.
     */
    toolCallParser?: string;
    /**
     * What requests with tools get if the chat template shows none; absent: describe, in the system message.
     */
    toolsWithoutTemplate?: 'describe' | 'refuse';
    /**
     * What stands around the model's reasoning, by vLLM's name; absent: <think> where the vocabulary has it.
     */
    reasoningParser?: string;
    /**
     * Tokens whose logits behind a prompt are those of labels, as vLLM's classifier_from_token; absent: the checkpoint's.
     *
     * @minItems 2
     * @maxItems 16
     */
    classifierFromToken?: string[];
    /**
     * Whether the model thinks about requests that do not say; null: as the chat template has it.
     */
    thinkingDefault: boolean | null;
    /**
     * Sampling of requests that do not set it, by whether the model thinks; absent fields: the checkpoint's.
     */
    samplingDefaults: {
      thinking?: {
        temperature?: number;
        topP?: number;
        topK?: number;
        minP?: number;
        presencePenalty?: number;
        frequencyPenalty?: number;
        repetitionPenalty?: number;
      };
      plain?: {
        temperature?: number;
        topP?: number;
        topK?: number;
        minP?: number;
        presencePenalty?: number;
        frequencyPenalty?: number;
        repetitionPenalty?: number;
      };
    };
  };
  auth: {
    /**
     * Folder with keys.yaml or keys.json; null: requests need no key.
     */
    keysDir: string | null;
    /**
     * Replicas that share the keys' budgets: each grants a key its budget divided by this number.
     */
    maxReplicas: number;
    /**
     * Whether /metrics requires a key too, where there are keys.
     */
    protectMetrics: boolean;
  };
  accounting: {
    /**
     * Folder for the log of finished requests, one line each; null: no log.
     */
    dir: string | null;
  };
  drainTimeoutSeconds: number;
  noProgressTimeoutSeconds: number;
}
