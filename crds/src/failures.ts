// Every way a service can fail, in one table: whether a retry can help, and what a person should do.
// The operator turns a Failure into conditions.

import type { FailureKind } from './failure-kind.js';
import { storeFailures } from './store-failures.js';

export const failureKinds = {
  InvalidSpec: {
    terminal: true,
    httpStatus: 500,
    remedy: 'Correct the fields that the message names and apply the manifest again.',
  },
  InvalidEngineConfig: {
    terminal: true,
    httpStatus: 500,
    remedy:
      'Correct the settings that the message names: manifest fields, variables, flags or the engine-config file.',
  },
  KeysInvalid: {
    terminal: false,
    httpStatus: 503,
    remedy:
      'Correct keys.yaml in the Secret named in spec.auth.keysSecretRef or spec.administration.keysSecretRef; deploy/docs/keys.md ' +
      'has an example.',
  },
  CertificateInvalid: {
    terminal: false,
    httpStatus: 503,
    remedy:
      'Correct tls.crt, tls.key or client-ca.crt in the Secret named in spec.tls.secretRef; deploy/docs/tls.md explains how.',
  },
  UnsupportedArchitecture: {
    terminal: true,
    httpStatus: 500,
    remedy:
      'Use a checkpoint with a model_type, or an accelerator, that the message names, or set spec.engine.runtime to vllm.',
  },
  UnsupportedByEngine: {
    terminal: true,
    httpStatus: 500,
    remedy:
      'Set spec.engine.image to a vLLM version that supports what the message names, or use another checkpoint.',
  },
  UnsupportedQuantization: {
    terminal: true,
    httpStatus: 500,
    remedy:
      'Use an unquantized checkpoint (BF16, F16, F32), or one in FP8 e4m3, NVFP4, MXFP4, GPTQ, AWQ, integers of compressed-tensors or GGUF (Q2_K to Q8_0, IQ4, MXFP4, NVFP4).',
  },
  ParallelismInvalid: {
    terminal: true,
    httpStatus: 500,
    remedy: 'Set spec.parallelism.tensor to a value that the message lists.',
  },
  ModelNotFound: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Check the place in spec.model.uri (bucket and prefix, repository or claim, folder); it must be a .gguf file or the folder that holds config.json.',
  },
  BucketNotFound: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Check the bucket in spec.model.uri, and in spec.engine.speculative.uri if it is set, and the endpoint in spec.model.s3.',
  },
  S3AccessDenied: {
    terminal: true,
    httpStatus: 503,
    remedy: 'Check the Secret named in spec.model.s3.credentialsSecretRef and the bucket policy.',
  },
  S3RegionMismatch: {
    terminal: true,
    httpStatus: 503,
    remedy:
      "Set spec.model.s3.region (--s3-region) to the bucket's region, or spec.model.s3.endpoint to the bucket's endpoint.",
  },
  S3CertificateUntrusted: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Put the CA certificate of the endpoint as ca.crt into the ConfigMap named in spec.model.s3.caConfigMapRef (a PEM file in ' +
      '--s3-ca-dir), or correct the host in spec.model.s3.endpoint (--s3-endpoint).',
  },
  ...storeFailures,
  SecretNotAllowed: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'If services of the namespace may use the Secret this way, label it with the command in the message.',
  },
  S3Unavailable: {
    terminal: false,
    httpStatus: 503,
    remedy: 'Wait for the S3 endpoint or correct spec.model.s3.endpoint; the pull resumes automatically.',
  },
  CheckpointIncomplete: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Upload the files or tensors that the message names; the annotation llmservice.dev/retry makes the operator check again at once.',
  },
  CheckpointCorrupt: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Upload the file that the message names again; its content does not match its header or its size.',
  },
  CheckpointUnreadable: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Save the checkpoint again with a standard tool: its headers or its index need more memory or time than the operator grants ' +
      'one checkpoint.',
  },
  TokenizerMissing: {
    terminal: true,
    httpStatus: 503,
    remedy: 'Add tokenizer.json (Hugging Face tokenizers format) to the folder of the weights.',
  },
  TokenizerInvalid: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Correct tokenizer.json (Hugging Face tokenizers format) in the folder of the weights; the message says what is wrong.',
  },
  ChatTemplateInvalid: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Correct chat_template in tokenizer_config.json (or chat_template.jinja); the message quotes the error.',
  },
  WeightsDiskFull: {
    terminal: true,
    httpStatus: 503,
    remedy: 'Enlarge the weights volume to at least the size in the message.',
  },
  WeightsCacheNotWritable: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Give the folder or the claim of spec.model.cache to the user and group in the message: chown USER:GROUP PATH.',
  },
  WeightsCacheUnsafe: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Inspect what the message names in the folder or the claim of spec.model.cache, and remove it or correct its owner; ' +
      'deploy/docs/weights-cache.md says who may write there.',
  },
  ModelTooLarge: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Give the device more memory, raise engine.memoryUtilizationPercent, or use a smaller checkpoint.',
  },
  KvCacheTooSmall: {
    terminal: true,
    httpStatus: 503,
    remedy: 'Set engine.maxModelLen to at most the length in the message.',
  },
  SharedMemoryTooSmall: {
    terminal: true,
    httpStatus: 503,
    remedy: 'Raise spec.sharedMemory.sizeLimit to the size in the message.',
  },
  LoadStalled: {
    terminal: false,
    httpStatus: 503,
    remedy: 'Check the node: the load made no progress for the time in the message.',
  },
  EngineFault: {
    terminal: false,
    httpStatus: 503,
    remedy: 'Send the request again: the engine is restarting; the runtime log has the cause.',
  },
  EngineNumericalFault: {
    terminal: false,
    httpStatus: 500,
    remedy:
      'Check the weights of the layer that the message names; if all requests end this way, load them again. Of the self-check: try another node or device.',
  },
  GrammarInvalid: {
    terminal: false,
    httpStatus: 400,
    remedy:
      'Correct the schema, regular expression, grammar or token rules that the request sets for its answer.',
  },
  QueueTimeout: {
    terminal: false,
    httpStatus: 503,
    remedy:
      'Send the request again later, or add replicas: no capacity became free in time. If it waited for room in the engine, it may ' +
      'wait longer (max_queue_seconds).',
  },
  OutOfMemory: {
    terminal: true,
    httpStatus: 503,
    remedy: 'Raise spec.resources.limits.memory above the size in the message.',
  },
  DeviceOutOfMemory: {
    terminal: true,
    httpStatus: 503,
    remedy:
      'Lower engine.memoryUtilizationPercent or engine.maxNumBatchedTokens, or give the service more or larger devices.',
  },
  DeviceMemoryTaken: {
    terminal: false,
    httpStatus: 503,
    remedy:
      'Stop the other processes that use the memory in the message, or lower engine.memoryUtilizationPercent.',
  },
  DeviceUnavailable: {
    terminal: false,
    httpStatus: 503,
    remedy:
      'Check the driver and the devices of the node, and that the image has code for them; the message says what is missing.',
  },
  DeviceFault: {
    terminal: false,
    httpStatus: 503,
    remedy:
      'The engine restarts automatically. If it fails again, check the device with nvidia-smi or rocm-smi, and use another node.',
  },
  ImagePullFailed: {
    terminal: false,
    httpStatus: 503,
    remedy: 'Check the image name and the pull secrets; the message quotes the kubelet.',
  },
  Crashed: {
    terminal: false,
    httpStatus: 503,
    remedy: 'Read the log of the pod that the message names.',
  },
} as const satisfies Record<string, FailureKind>;

export type FailureReason = keyof typeof failureKinds;
export const failureReasons = Object.keys(failureKinds) as FailureReason[];

/** What a component says when it gives up; `detail` holds figures such as `{ fits: 8192 }`. */
export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  readonly detail?: Readonly<Record<string, string | number>>;
}

/** Of names and answers from outside, which may be of any length; a condition's message takes eight times as many. */
const maxMessageChars = 4096;

/** An error that carries its reason from where it is known to where it is reported. */
export class FailureError extends Error {
  override readonly name = 'FailureError';
  constructor(
    readonly reason: FailureReason,
    message: string,
    readonly detail?: Readonly<Record<string, string | number>>,
    options?: ErrorOptions,
  ) {
    super(message.length > maxMessageChars ? `${message.slice(0, maxMessageChars)}…` : message, options);
  }

  get failure(): Failure {
    return {
      reason: this.reason,
      message: this.message,
      ...(this.detail === undefined ? {} : { detail: this.detail }),
    };
  }
}
