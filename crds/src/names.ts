// The one place that spells names shared by operator, runtime, charts and tests:
// API group, labels, annotations, ports, mount paths, metrics and condition types.

export const api = {
  group: 'llmservice.dev',
  version: 'v1alpha1',
  groupVersion: 'llmservice.dev/v1alpha1',
  /** Served beside it, where the operator converts. */
  betaVersion: 'v1beta1',
  kind: 'LlmService',
  plural: 'llmservices',
  singular: 'llmservice',
  shortName: 'llm',
} as const;

/** Many models behind one address. */
export const gatewayApi = { kind: 'LlmGateway', plural: 'llmgateways' } as const;

/** Defaults and bounds of a platform, of the whole cluster. */
export const classApi = { kind: 'LlmServiceClass', plural: 'llmserviceclasses' } as const;

export const fieldManager = 'llmservice-operator';
/** Who sets spec.replicas by load, where neither KEDA nor a HorizontalPodAutoscaler does. */
export const autoscalerManager = 'llmservice-autoscaler';

export const labels = {
  name: 'app.kubernetes.io/name',
  instance: 'app.kubernetes.io/instance',
  managedBy: 'app.kubernetes.io/managed-by',
  service: 'llmservice.dev/service',
  /** On what belongs to an LlmGateway: its name. */
  gateway: 'llmservice.dev/gateway',
  /** On pods of an endpoint picker: the name of its service. */
  picker: 'llmservice.dev/picker',
  /** On prefill pods: the name of their service, in place of `service`, since they answer none of its requests. */
  prefill: 'llmservice.dev/prefill',
  /** On Secrets: what services of the namespace may use it for, one of `secretPurposes`. */
  secretFor: 'llmservice.dev/secret-for',
  /** As the chart writes it on activators: of a release that is distinguished from another one in its namespace. */
  activatorInstance: 'llmservice.dev/instance',
  /** Kueue's, on Deployments and pods: the LocalQueue that admits them. */
  queue: 'kueue.x-k8s.io/queue-name',
} as const;

/** What pods of services, prefill pods too, have in their label for names. */
export const servingName = 'llm-service';

/** `env`: variables of pods other than AWS_*, which are `s3`. */
export const secretPurposes = ['s3', 'hub', 'oci', 'list', 'keys', 'administration', 'tls', 'env'] as const;
export type SecretPurpose = (typeof secretPurposes)[number];

export const annotations = {
  /** Any change of its value clears a terminal failure and tries again. */
  retry: 'llmservice.dev/retry',
  /** Any change of its value has a service take its class as it is now. */
  refreshClass: 'llmservice.dev/refresh-class',
  /** Written by activators, RFC 3339: any change of its value wakes a service that is asleep. */
  lastRequest: 'llmservice.dev/last-request-at',
  /** Content hash of the engine config a pod was made from. */
  configHash: 'llmservice.dev/config-hash',
  /** On pods that another engine than ours serves: which. */
  engineRuntime: 'llmservice.dev/engine-runtime',
  /** On every object that the operator writes: hash of the object as it was applied last. */
  applied: 'llmservice.dev/applied',
  /** On pods: hash of their whole template, which distinguishes the pods of a revision from older ones. */
  revision: 'llmservice.dev/revision',
  /** On a Deployment and on a revision: hash of the spec that it was made for. */
  specHash: 'llmservice.dev/spec-hash',
  /** On a revision: fingerprint of the checkpoint that it was planned for. */
  checkpointFingerprint: 'llmservice.dev/checkpoint-fingerprint',
  /** On a revision, `all`: its fingerprint is of all files that runtimes read; without it, of those of the first releases. */
  checkpointFiles: 'llmservice.dev/checkpoint-files',
  /** Set by people: the revision of a canary, which then replaces the stable one without further steps. */
  promote: 'llmservice.dev/promote',
  /** On the Deployment: the revision that was Ready last. */
  goodRevision: 'llmservice.dev/good-revision',
  /** On the Deployment: the attempt that failed terminally. */
  failedAttempt: 'llmservice.dev/failed-attempt',
  /** On the Deployment of a service that is asleep: since when and why, as JSON. */
  asleep: 'llmservice.dev/asleep',
  /** On pods that ask for devices by a claim that was planned: what it asks for, as JSON. */
  deviceRequest: 'llmservice.dev/device-request',
  /** On Jobs that pull weights ahead: the node. */
  node: 'llmservice.dev/node',
  /** On routes that lead to another service: its name. */
  fallback: 'llmservice.dev/fallback',
  /** On an HTTPRoute whose gateway took no InferencePool: the value of `retry` at which it refused. */
  poolRefused: 'llmservice.dev/pool-refused',
  /** On an HTTPRoute whose gateway took no InferencePool for a reason that may pass: how often, and when last (`2 TIME`). */
  poolRefusals: 'llmservice.dev/pool-refusals',
} as const;

/** `http` is the container's, by HTTPS too; the Service forwards to it from `service`, or from `secureService`. */
export const ports = {
  http: 8080,
  service: 80,
  secureService: 443,
  operatorMetrics: 8081,
  activator: 8082,
  /** Where the activator takes requests by HTTPS. */
  secureActivator: 8084,
  /** Of the operator, where the API server has objects converted: the usual port of webhooks, which firewalls let through. */
  conversion: 9443,
  /** Of a gateway's router. */
  router: 8085,
  /** Of a pod, on its loopback device alone. */
  administration: 8083,
  /** Of an endpoint picker, as its own flags have them. */
  picker: 9002,
  pickerHealth: 9003,
  pickerMetrics: 9090,
  /** Of a leader's pod, where the ranks of other nodes find it. */
  ranks: 7070,
  /** Of a prefill pod, where decode pods have their prompts computed. */
  prefill: 8030,
  /** Of a prefill pod, where decode pods fetch KV: rank r listens at this port plus r. */
  kvTransfer: 8040,
} as const;

/** From `kvTransfer` on: those at which ranks listen, and behind them those that UCX takes. */
export const kvTransferPorts = 40;

/** Of LeaderWorkerSet, on the pods of its groups. */
export const groupLabels = {
  set: 'leaderworkerset.sigs.k8s.io/name',
  group: 'leaderworkerset.sigs.k8s.io/group-index',
  /** 0: the leader's. */
  worker: 'leaderworkerset.sigs.k8s.io/worker-index',
} as const;

/** What pods of the activator have in their label for names. */
export const activatorName = 'llmservice-activator';

/** What pods of a gateway's router have in their label for names. */
export const routerName = 'llmservice-router';

/** What pods of an endpoint picker have in their label for names. */
export const pickerName = 'llmservice-endpoint-picker';

/** The name of the one container in a pod that serves. */
export const runtimeContainer = 'runtime';
/** The init container that pulls weights for an engine that cannot, or makes the namespace's folder on the node. */
export const weightsContainer = 'weights';

export const paths = {
  engineConfigDir: '/etc/llmservice',
  engineConfig: '/etc/llmservice/engine-config.json',
  weights: '/var/lib/llmservice/models',
  /** Where the container that prepares a folder of the node sees all of what the operator allows. */
  nodeFolder: '/var/lib/llmservice/node',
  /** Where the image of an oci:// URI lies that is mounted. */
  modelImage: '/var/lib/llmservice/model-image',
  /** Where claims of pvc:// URIs lie, each under its name. */
  claims: '/var/lib/llmservice/claims',
  /** Where the checkpoint lies that was pulled for another engine. */
  pulledCheckpoint: '/var/lib/llmservice/models/checkpoint',
  sharedMemory: '/dev/shm',
  terminationMessage: '/dev/termination-log',
  s3Ca: '/etc/llmservice-s3-ca',
  keys: '/etc/llmservice-keys',
  routes: '/etc/llmservice-routes',
  administrationKeys: '/etc/llmservice-administration',
  tls: '/etc/llmservice-tls',
  adapters: '/etc/llmservice-adapters',
  accounting: '/var/lib/llmservice/accounting',
} as const;

/** Probe and observation routes of the runtime's server. */
export const routes = {
  live: '/healthz/live',
  ready: '/healthz/ready',
  startup: '/healthz/startup',
  health: '/health',
  metrics: '/metrics',
  /** Answers events at a known pace, without the model and without a key. */
  streamCheck: '/v1/stream-check',
} as const;

/** Whether a replica is well: KServe's clients have paths of their own. */
export const healthPaths: readonly string[] = [
  routes.health,
  routes.live,
  routes.ready,
  routes.startup,
  '/v2/health/live',
  '/v2/health/ready',
];

/** Asked through the public route by the operator. It costs a timer. */
export const streamCheckPaths: readonly string[] = [routes.streamCheck, `/openai${routes.streamCheck}`];

/** Our own headers, of requests and answers. */
export const headers = {
  /** Of requests: the names that the service answers to for which is stood in, with commas between. */
  fallbackFor: 'x-llmservice-fallback-for',
  /** Of answers: the service that answered. */
  fallback: 'x-llmservice-fallback',
  /**
   * Of requests, by routers that count tokens: what the request takes is to be reported. Of answers to these, as a header and
   * as a trailer: the report (keys/usage-report.ts).
   */
  usage: 'x-llmservice-usage',
  /** Of a stream check: NAMESPACE/NAME of the service that is meant, which it alone says back. */
  service: 'x-llmservice-service',
  /** Of requests: `always` to have them answered by the canary where there is one, `never` by the stable revision. */
  canary: 'x-llmservice-canary',
  /** Of answers: `described` where a message showed the model the tools, since the chat template shows none. */
  tools: 'x-llmservice-tools',
} as const;

/** Series of pods that the operator scales, sleeps and judges canaries by: those of vLLM, which our engine exposes under the same names. */
export const podMetrics = {
  running: 'vllm:num_requests_running',
  waiting: 'vllm:num_requests_waiting',
  /** Share of the KV blocks in use, 0 to 1. */
  kvUsage: 'vllm:kv_cache_usage_perc',
  promptTokens: 'vllm:prompt_tokens_total',
  generationTokens: 'vllm:generation_tokens_total',
  /** Generations that ended, by finished_reason. */
  requestSuccess: 'vllm:request_success_total',
  /** Answers by class of the status. */
  answers: 'http_requests_total',
  rejections: 'vllm:admission_rejections_total',
  firstTokenSeconds: 'vllm:time_to_first_token_seconds',
  tokenSeconds: 'vllm:request_time_per_output_token_seconds',
  answerTokens: 'vllm:request_generation_tokens',
} as const;

/** Kubernetes cuts longer termination messages. */
export const terminationMessageMaxBytes = 4096;

export const conditionTypes = [
  'ModelResolved',
  'Fits',
  'Scheduled',
  'Loaded',
  'Serving',
  'Routed',
  'StreamingVerified',
  'Ready',
  'Reconciling',
  'Stalled',
] as const;
export type ConditionType = (typeof conditionTypes)[number];

/** Only on services that are scaled by load, have a budget, adapters, a canary, or a class. */
export const optionalConditionTypes = [
  'ScalingActive',
  'WithinBudget',
  'AdaptersLoaded',
  'CanaryPassing',
  'ClassResolved',
] as const;
