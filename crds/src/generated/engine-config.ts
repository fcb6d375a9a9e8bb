// Generated from crds/engine-config.schema.json by `npm run generate`. Do not edit.

/**
 * What the operator hands the runtime. Every field is present: defaults are applied before it is written.
 */
export interface EngineConfig {
  model: {
    /**
     * s3://bucket/prefix/, file:///path or an absolute path, of a folder or a .gguf file.
     */
    uri: string;
    /**
     * The served name.
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
    /**
     * The weights folder is shared with other pods of the node; absent: it is this pod's alone.
     */
    cache?: {
      /**
       * What the folder is outside of the pod, for messages.
       */
      volume: string;
      /**
       * Checkpoints that nobody uses make way beyond it; null: as much as the disk has.
       */
      maxBytes: number | null;
      /**
       * When files are compared with their digests: once they are pulled, or at every start too.
       */
      verify: 'onPull' | 'always';
      /**
       * What the checkpoints were when the revision was planned; null: not known.
       */
      pins: {
        model: string | null;
        head: string | null;
      };
    };
  };
  accelerator: {
    /**
     * Which backend the engine uses.
     */
    kind: 'cpu' | 'cuda' | 'hip';
    /**
     * Memory of one device (on CPU: what the engine may plan with); null: measured.
     */
    memoryBytesPerDevice: number | null;
  };
  parallelism: {
    tensor: number;
  };
  engine: {
    /**
     * Tokens of prompt plus output; null: the largest that fits.
     */
    maxModelLen: number | null;
    memoryUtilizationPercent: number;
    maxNumSeqs: number;
    /**
     * At least maxNumSeqs + 64; with speculative decoding maxNumSeqs x (1 + speculative.tokens) + 64.
     */
    maxNumBatchedTokens: number;
    /**
     * Tokens per KV block.
     */
    blockSize: 16 | 32 | 64 | 128;
    /**
     * Whether prompts may reuse the cache of what they share with earlier ones.
     */
    prefixCaching: boolean;
    /**
     * Type of the KV cache and of unquantized weights in memory; auto: bfloat16. F16 matrices stay F16 unless it is float32. Activations are float32 on the CPU.
     */
    dtype: 'auto' | 'bfloat16' | 'float32';
    /**
     * Type of the KV cache; auto: as dtype. fp8 is e4m3 with a scale per token and head.
     */
    kvCacheDtype: 'auto' | 'fp8';
    /**
     * What unquantized matrices become while they load.
     */
    quantization: 'none' | 'fp8' | 'int8';
    /**
     * Guesses of the next tokens, verified several at once. Answers do not depend on it.
     */
    speculative: {
      /**
       * ngram: from the text itself; mtp: by the checkpoint's layer for multi-token prediction.
       */
      method: 'none' | 'ngram' | 'mtp';
      /**
       * Most guesses per sequence and step.
       */
      tokens: number;
      /**
       * Of method mtp: another release of the model, whose layer drafts where the checkpoint has none.
       */
      uri?: string;
    };
    /**
     * Who adds up for ranks on GPUs: the engine in rank order, or NCCL or RCCL; auto: own where devices reach each other's memory.
     */
    collectives: 'auto' | 'own' | 'library';
    /**
     * Steps that the engine runs before it is ready. Answers do not depend on it.
     */
    warmup: {
      /**
       * auto: contexts up to 8,192 tokens on GPUs, nothing on CPUs.
       */
      preset: 'auto' | 'short' | 'long' | 'all' | 'none';
      /**
       * PROMPT:MAX, tokens of the prompt and of prompt plus output.
       *
       * @maxItems 32
       */
      shapes: string[];
      /**
       * No further shape begins after so many seconds.
       */
      timeLimitSeconds: number;
    };
  };
  auth: {
    /**
     * Folder with keys.yaml or keys.json; null: no key is asked for.
     */
    keysDir: string | null;
    /**
     * Replicas that share the keys' budgets: each gives a key the budget divided by this.
     */
    maxReplicas: number;
    /**
     * Whether /metrics asks for a key too, where there are keys.
     */
    protectMetrics: boolean;
  };
  accounting: {
    /**
     * Folder that gets a line for each finished request; null: none is written.
     */
    dir: string | null;
  };
  drainTimeoutSeconds: number;
  noProgressTimeoutSeconds: number;
}
