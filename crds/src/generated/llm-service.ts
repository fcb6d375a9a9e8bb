// Generated from crds/llmservices.llmservice.dev.yaml by `npm run generate`. Do not edit.

/**
 * An open-weights large language model, served from one manifest.
 */
export interface LlmService {
  apiVersion: 'llmservice.dev/v1alpha1';
  kind: 'LlmService';
  metadata: LlmServiceMetadata;
  spec: LlmServiceSpec;
  status?: LlmServiceStatus;
}
/**
 * Standard object metadata.
 */
export interface LlmServiceMetadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: {
    [k: string]: string;
  };
  annotations?: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
/**
 * What is wanted. Only model.uri is required.
 */
export interface LlmServiceSpec {
  model: ModelSpec;
  accelerator: AcceleratorSpec;
  /**
   * How the model is split.
   */
  parallelism: {
    /**
     * Tensor-parallel ranks, one for each device. Default: accelerator.devices.
     */
    tensor?: number;
  };
  engine: EngineSpec;
  /**
   * Environment variables of the runtime container. Processes below its server, such as the engine, get of them what devices, collectives and loaders read (CUDA_, HIP_, HSA_, NCCL_, OMP_, LD_LIBRARY_PATH, …), and no credentials. Those that stand for a field of this spec (MAX_MODEL_LEN, GPU_MEMORY_UTILIZATION, …; deploy/docs/from-kserve.md lists them) fill it where it is unset or at its default; where it says something else, the manifest is refused.
   *
   * @maxItems 128
   */
  env?: EnvVar[];
  /**
   * /dev/shm of the pod, over which ranks exchange data.
   */
  sharedMemory: {
    /**
     * Its size; it counts against the memory limit. Default: what the engine needs.
     */
    sizeLimit?: string;
  };
  resources?: ResourcesSpec;
  /**
   * Labels that a node must have.
   */
  nodeSelector?: {
    /**
     * Value of the label.
     */
    [k: string]: string;
  };
  /**
   * Scheduling affinity of the pods, as in a pod's spec. Its inner fields are checked when the operator applies the Deployment.
   */
  affinity?: {
    /**
     * Node affinity (core/v1 NodeAffinity).
     */
    nodeAffinity?: {
      [k: string]: unknown;
    };
    /**
     * Pod affinity (core/v1 PodAffinity).
     */
    podAffinity?: {
      [k: string]: unknown;
    };
    /**
     * Pod anti-affinity (core/v1 PodAntiAffinity).
     */
    podAntiAffinity?: {
      [k: string]: unknown;
    };
  };
  /**
   * Taints of nodes that the pods accept.
   *
   * @maxItems 32
   */
  tolerations?: Toleration[];
  /**
   * PriorityClass of the pods.
   */
  priorityClassName?: string;
  /**
   * How replicas spread over zones or nodes.
   *
   * @maxItems 16
   */
  topologySpreadConstraints?: TopologySpreadConstraint[];
  /**
   * RuntimeClass of the pods.
   */
  runtimeClassName?: string;
  /**
   * ServiceAccount of the pods, one that the operator allows; they get no token of it. Default: default.
   */
  serviceAccountName?: string;
  /**
   * Secrets of this namespace, of type kubernetes.io/dockerconfigjson, for pulling the runtime image.
   *
   * @maxItems 16
   *
   * Items: One Secret.
   */
  imagePullSecrets?: {
    /**
     * Name of the object.
     */
    name: string;
  }[];
  /**
   * Further groups of the pods' processes, by number: such as render, where the device files of the node belong to it and no device plugin gives access.
   *
   * @maxItems 16
   *
   * Items: Number of the group.
   */
  supplementalGroups?: number[];
  /**
   * Further labels of the pods, for network policies, monitors and cost reports.
   */
  podLabels?: {
    /**
     * Value of the label.
     */
    [k: string]: string;
  };
  /**
   * Further annotations of the pods. Those by which Prometheus finds /metrics (prometheus.io/scrape and its kin) are there unless auth.protectMetrics is set; here they can be changed.
   */
  podAnnotations?: {
    /**
     * Value of the annotation.
     */
    [k: string]: string;
  };
  /**
   * Copies of the service, each with its own devices. Leave it out of manifests where kubectl scale or an autoscaler sets it.
   */
  replicas: number;
  /**
   * How many pods there are by load and by the clock, and when a service that nobody asks anything goes without pods, until somebody does.
   */
  scaling: {
    /**
     * Least replicas that scaling by load leaves. Default: 1.
     */
    minReplicas?: number;
    /**
     * Most replicas that scaling by load makes; setting it turns scaling by load on. Default: replicas is set by hand.
     */
    maxReplicas?: number;
    /**
     * What is held near the target, on average over the pods. concurrency: requests that run or wait. queue: requests that wait. kvUsage: percent of the KV cache in use.
     */
    metric: 'concurrency' | 'queue' | 'kvUsage';
    /**
     * The metric's value per pod that is aimed for. Default: for concurrency 70 % of engine.maxNumSeqs, for queue 4, for kvUsage 80.
     */
    target?: number;
    /**
     * Who scales by load. keda: a ScaledObject. hpa: a HorizontalPodAutoscaler. operator: the operator itself, from the metrics that pods tell. auto: keda where the cluster has it and the operator knows Prometheus' address, else hpa where the cluster has custom metrics, else operator.
     */
    provider: 'auto' | 'keda' | 'hpa' | 'operator';
    /**
     * How long fewer replicas must have sufficed before some go.
     */
    scaleDownStabilizationSeconds: number;
    /**
     * Times during which the service does not sleep and has at least so many replicas, however little it is asked.
     *
     * @maxItems 16
     *
     * Items: One recurring time.
     */
    schedules?: {
      /**
       * Name of the schedule.
       */
      name: string;
      /**
       * Time zone of start and end, such as Europe/Berlin.
       */
      timeZone: string;
      /**
       * When it begins, as cron writes it: minute, hour, day of month, month, day of week, such as "0 8 * * 1-5". Pods are started earlier, by as long as the last load took, so that they answer by then.
       */
      start: string;
      /**
       * When it ends, likewise.
       */
      end: string;
      /**
       * Least replicas meanwhile.
       */
      minReplicas: number;
    }[];
    /**
     * How long nothing may have been asked before all pods go. The next request waits at the operator's activator while pods load again. Default: they never go.
     */
    idleAfterSeconds?: number;
    /**
     * How long a request waits for a pod at the most; then it is answered 503.
     */
    wakeTimeoutSeconds: number;
  };
  /**
   * What the service may take of devices in a calendar month. Devices count from when a pod has its node until it is gone, whether it serves or loads. Default: there is no limit.
   */
  budget: {
    /**
     * Most hours of a device, summed over devices and pods.
     */
    deviceHoursPerMonth?: number;
    /**
     * Most that those hours may cost, such as "2500" or "99.50".
     */
    costPerMonth?: string;
    /**
     * What one device costs an hour, such as "2.49".
     */
    costPerDeviceHour?: string;
    /**
     * Currency of both, for messages alone, such as EUR.
     */
    currency?: string;
    /**
     * Time zone in which months begin.
     */
    timeZone: string;
    /**
     * What happens when all is spent. stop: no pods until the next month, or until the budget is raised. warn: a condition and an event alone. Both warn when four fifths are spent.
     */
    action: 'stop' | 'warn';
  };
  /**
   * True: no pods, whatever replicas says, until it is false again; everything else of the service is kept.
   */
  stop: boolean;
  /**
   * How the service is reached from outside the cluster.
   */
  routing: {
    /**
     * Host name of the route at the operator's gateway. Default: no route; the service is reached inside the cluster only.
     */
    host?: string;
    /**
     * Path before those of the API, such as /qwen36-27b, where several services share a host; the server does not see it. Default: none.
     */
    pathPrefix?: string;
    /**
     * What carries the route. gatewayApi: an HTTPRoute. istio: a VirtualService and a DestinationRule. none: no route, whatever the host. auto: the first of the two that the cluster knows and the operator has a gateway for.
     */
    provider: 'auto' | 'gatewayApi' | 'istio' | 'none';
    /**
     * Who answers at the public route while no pod of this service does: while it loads, after it failed, and while it is stopped. Such answers have the header x-llmservice-fallback. Default: nobody.
     */
    fallback?: {
      /**
       * Another LlmService of this namespace, with the same auth.keysSecretRef as this one, or neither with any.
       */
      service: string;
    };
  };
  /**
   * A NetworkPolicy for the pods: besides the operator, and the activator where the service may sleep, nobody but these may reach them. It takes a network plugin that keeps such policies. Default: none, and everybody in the cluster may.
   */
  networkPolicy?: {
    /**
     * Who may send requests: the pods of the gateway, clients inside the cluster, what scrapes metrics. As in a NetworkPolicy's ingress; inner fields are checked when the operator applies it.
     *
     * @minItems 1
     * @maxItems 16
     *
     * Items: One group of peers.
     */
    from: {
      /**
       * Namespaces whose pods may (meta/v1 LabelSelector).
       */
      namespaceSelector?: {
        [k: string]: unknown;
      };
      /**
       * Pods that may, in those namespaces, or without any in this one (meta/v1 LabelSelector).
       */
      podSelector?: {
        [k: string]: unknown;
      };
      /**
       * Addresses that may (networking/v1 IPBlock).
       */
      ipBlock?: {
        [k: string]: unknown;
      };
    }[];
  };
  /**
   * HTTPS by the pods themselves, inside the cluster.
   */
  tls: {
    /**
     * Secret of this namespace with tls.crt and tls.key in PEM, as type kubernetes.io/tls has them, and perhaps client-ca.crt: only clients with a certificate of its authorities are answered. It has the label llmservice.dev/secret-for=tls. A change is taken over without a restart. Default: plain HTTP.
     */
    secretRef?: {
      /**
       * Name of the object.
       */
      name: string;
    };
    /**
     * ConfigMap of this namespace whose key ca.crt holds, in PEM, the authorities of the certificate in secretRef. By them the gateway, the activator and the operator verify the pods, which have to have the name NAME.NAMESPACE.svc. Required beside routing.host and scaling.idleAfterSeconds.
     */
    caConfigMapRef?: {
      /**
       * Name of the object.
       */
      name: string;
    };
  };
  auth: AuthSpec;
  accounting: AccountingSpec;
  /**
   * What the server of each pod takes at once, and what it logs.
   */
  server?: {
    /**
     * Largest body of a request; a larger one is refused with 413. At most what activators take for services that sleep. Default: 16777216.
     */
    maxBodyBytes?: number;
    /**
     * Bodies of requests that a pod holds at once, unpacked, until their answers end; more are refused with 503 or, of a key that holds its part, 429. At least twice maxBodyBytes. A pod needs up to five times as much memory for them. Default: a 32nd of the memory limit, 64 MiB to 512 MiB.
     */
    maxBodiesBytes?: number;
    /**
     * Connections that a pod has open at once. A new one closes the one that is idle longest; where none is, it is refused with 503, unless it asks for the health routes. Default: 4096.
     */
    maxConnections?: number;
    /**
     * Answers that may wait in a pod beyond the engine.maxNumSeqs that run; a request with n counts n times. More are refused with 429, and a scaling.metric of queue does not see them. Keys leave each other a part of this room. Default: 1024.
     */
    maxWaiting?: number;
    /**
     * The lowest, and so most urgent, priority that requests may ask for in a service without keys; each key has a bound of its own. Default: 0, so that requests can only stand back.
     */
    mostUrgentPriority?: number;
    /**
     * The least that is worth a line of a pod's log. Requests have theirs at info, and by them kubectl llm drain counts. Default: info.
     */
    logLevel?: 'error' | 'warn' | 'info' | 'debug';
  };
  /**
   * The lines of the access log as objects in S3, at the endpoint, and with the credentials, of the checkpoint. Default: none.
   */
  requestLog?: {
    /**
     * Where the objects go, as s3://BUCKET/PREFIX/; the credentials must be let write there.
     */
    uri: string;
    /**
     * Whether lines have prompts and answers too: what people wrote. Without it, no line does.
     */
    text: boolean;
  };
  /**
   * A port of each pod, for who may forward ports to it: what runs, ending it, flushing the cache, draining, other weights. Default: none.
   */
  administration?: {
    /**
     * Secret of this namespace whose key keys.yaml (or keys.json) lists the keys of administrators, as hashes, and that has the label llmservice.dev/secret-for=administration. A change is taken over without a restart.
     */
    keysSecretRef: {
      /**
       * Name of the object.
       */
      name: string;
    };
    /**
     * Checkpoints that administrators may load beside model.uri: each as s3://BUCKET/PREFIX/, with all that is below it. Default: none.
     *
     * @maxItems 32
     *
     * Items: A prefix of a bucket.
     */
    allowedUris?: string[];
  };
  /**
   * How pods are replaced, and the time limits of starting and stopping.
   */
  rollout: {
    /**
     * Surge: a new pod serves before an old one goes; it waits for its devices. Drain: an old pod goes first. Auto: Surge where a node has room for one more pod, else Drain.
     */
    strategy: 'Auto' | 'Surge' | 'Drain';
    /**
     * How long running generations may finish, and answers be read, after a pod was told to stop.
     */
    drainTimeoutSeconds: number;
    /**
     * How long a load may pass without any progress before it counts as failed. A load that progresses may take as long as it needs.
     */
    noProgressTimeoutSeconds: number;
  };
}
/**
 * Which checkpoint is served, under which names.
 */
export interface ModelSpec {
  /**
   * The checkpoint's folder (with config.json, tokenizer.json and *.safetensors, or one .gguf file), as s3://BUCKET/PREFIX/, or its file, as s3://BUCKET/PREFIX/NAME.gguf.
   */
  uri: string;
  /**
   * The name that clients send as "model". Default: metadata.name.
   */
  name?: string;
  /**
   * Further names under which the same model answers.
   *
   * @maxItems 16
   *
   * Items: One more served name.
   */
  aliases?: string[];
  s3: S3Spec;
  /**
   * Where pulled weights are kept. On a folder of the node, or on a claim, they are pulled once, and every pod that comes later, of any service, starts from them without the bucket.
   */
  cache: {
    /**
     * emptyDir: each pod pulls its own copy. hostPath: a folder of the node; for namespaces that allow it, in folders that the operator was installed to allow. pvc: a PersistentVolumeClaim of this namespace, for namespaces of the restricted profile.
     */
    kind: 'emptyDir' | 'hostPath' | 'pvc';
    /**
     * Folder of the node, one of those that the operator was installed to allow, such as /var/cache/llmservice. Each namespace has a folder of its own there, made where it is missing.
     */
    path?: string;
    /**
     * Name of the PersistentVolumeClaim.
     */
    claimName?: string;
    /**
     * Checkpoints that no pod uses make way beyond it, the one used longest ago first. Default: as much as the disk has.
     */
    maxSize?: string;
    /**
     * When files are compared with the digests that S3 keeps: onPull: once they are pulled, later by size and time alone; always: at every start, which reads them once more.
     */
    verify: 'onPull' | 'always';
    /**
     * Pull before a pod comes: by a Job on each node that may serve, or by one Job into the claim.
     */
    prePull: boolean;
  };
}
/**
 * How the bucket is reached. Without it, AWS S3 is used anonymously.
 */
export interface S3Spec {
  /**
   * Base URL of an S3-compatible server, such as https://s3.example.org: a public one, or one that the operator allows. Default: AWS S3.
   */
  endpoint?: string;
  /**
   * Region that requests are signed for. Default: the environment variable AWS_REGION, else us-east-1.
   */
  region?: string;
  /**
   * Address the bucket in the path instead of the host name, as most S3-compatible servers expect.
   */
  forcePathStyle: boolean;
  /**
   * Secret of this namespace with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and with the label llmservice.dev/secret-for=s3. Default: requests are not signed.
   */
  credentialsSecretRef?: {
    /**
     * Name of the Secret.
     */
    name: string;
  };
  /**
   * ConfigMap of this namespace whose key ca.crt holds the PEM certificates to trust beside the system's.
   */
  caConfigMapRef?: {
    /**
     * Name of the ConfigMap.
     */
    name: string;
  };
}
/**
 * The devices that one replica uses.
 */
export interface AcceleratorSpec {
  /**
   * What one device is, such as mi300x-cpx-nps4 or h100-3g.40gb: its resource, memory and variables; deploy/docs/accelerators.md lists all. Default: as the other fields say.
   */
  profile?: string;
  /**
   * Extended resource of the devices: amd.com/gpu, nvidia.com/gpu or a partition such as nvidia.com/mig-3g.40gb; none serves on the CPU, or stands for the profile's.
   */
  resourceName: string;
  /**
   * Devices of one replica. A partition (MI300X CPX, MIG) counts as a device. Of GPUs the native runtime takes 8 at the most, unless engine.collectives is library.
   */
  devices: number;
  /**
   * Memory of one device; of one partition, where the card is partitioned. On the CPU: what the engine may plan with. Default: on the CPU the memory limit, else the profile's or what the engine measures.
   */
  memoryPerDevice?: string;
}
/**
 * Settings of the inference engine.
 */
export interface EngineSpec {
  /**
   * Who serves. native: our own engine. vllm: a vLLM image, with arguments made from the same fields, for models that ours lacks; deploy/docs/vllm.md tells what differs.
   */
  runtime: 'native' | 'vllm';
  /**
   * Image of the runtime, of a repository that the operator allows. Default: the one that the operator was installed with for this runtime and kind of device.
   */
  image?: string;
  /**
   * Further arguments of vllm serve, after those made from this spec: of an option that is given twice, vLLM takes the last.
   *
   * @maxItems 64
   *
   * Items: One argument, such as --enable-expert-parallel.
   */
  args?: string[];
  /**
   * vLLM's parser of reasoning, such as qwen3 or deepseek_r1. Default: answers are not split.
   */
  reasoningParser?: string;
  /**
   * vLLM's parser of tool calls, such as hermes or qwen3_xml; models then choose tools by themselves. Default: no tools.
   */
  toolCallParser?: string;
  /**
   * Most tokens of prompt and output together. Default: the largest that fits, told in status.memoryPlan.maxModelLen.
   */
  maxModelLen?: number;
  /**
   * Share of a device's memory that the engine may use.
   */
  memoryUtilizationPercent: number;
  /**
   * Most sequences that one step computes.
   */
  maxNumSeqs: number;
  /**
   * Most tokens that one step computes; at least maxNumSeqs + 64.
   */
  maxNumBatchedTokens: number;
  /**
   * Tokens of one block of the KV cache. At the default vLLM chooses itself.
   */
  blockSize: 16 | 32 | 64 | 128;
  /**
   * Whether prompts may reuse the cache of what they share with earlier ones. Answers do not depend on it.
   */
  prefixCaching: boolean;
  /**
   * Type of the KV cache and of unquantized weights in memory; auto is bfloat16.
   */
  dtype: 'auto' | 'bfloat16' | 'float32';
  /**
   * Type of the KV cache; auto is dtype. fp8 (e4m3, one scale per token and head) holds nearly twice the context in the same memory, at some loss of accuracy.
   */
  kvCacheDtype: 'auto' | 'fp8';
  /**
   * What unquantized matrices become while they load: FP8 (e4m3, one scale per 128x128 block) or INT8 (one scale per output). Tables, routers and other small matrices stay as they are.
   */
  quantization: 'none' | 'fp8' | 'int8';
  speculative: SpeculativeSpec;
  /**
   * Who adds up what the ranks of GPUs have computed. own: the engine, in rank order. library: NCCL or RCCL, which the image must have, in an order of its own: the last bits of answers may differ from run to run. auto: own where devices reach each other's memory, else library.
   */
  collectives: 'auto' | 'own' | 'library';
  /**
   * Steps that the native engine runs before it is ready: the largest one, which proves that memory suffices, and those that requests will ask for again. Answers do not depend on it.
   */
  warmup: {
    /**
     * auto: contexts up to 8,192 tokens on GPUs, nothing on CPUs. short: contexts up to 1,024. long: those above 8,192. all: all of them. none: nothing but what shapes names.
     */
    preset: 'auto' | 'short' | 'long' | 'all' | 'none';
    /**
     * Further requests to be ready for, as PROMPT:MAX, the tokens of the prompt and of prompt and output together, such as 3000:4096; they come before those of the preset.
     *
     * @maxItems 32
     *
     * Items: PROMPT:MAX in tokens.
     */
    shapes?: string[];
    /**
     * Seconds after which no further shape begins; the log names those left out.
     */
    timeLimitSeconds: number;
  };
}
/**
 * Speculative decoding: the next tokens are guessed, and several are verified in one step. Answers do not depend on it, only how fast they come.
 */
export interface SpeculativeSpec {
  /**
   * Who guesses. ngram: what followed the same words earlier in the text, good where answers repeat their prompts. mtp: the checkpoint's own layer for multi-token prediction.
   */
  method: 'none' | 'ngram' | 'mtp';
  /**
   * Most guesses per sequence and step. Fewer are made where measured acceptance says that they do not pay.
   */
  tokens: number;
  /**
   * Of method mtp: another release of the same model, as s3://BUCKET/PREFIX/, whose layer guesses where the checkpoint has none (an NVFP4 release beside an FP8 one). Of its weight files only those with the layer are read.
   */
  uri?: string;
}
/**
 * One environment variable.
 */
export interface EnvVar {
  /**
   * Name of the variable.
   */
  name: string;
  /**
   * Its value. Default: empty.
   */
  value?: string;
  /**
   * Where its value is read from.
   */
  valueFrom?: {
    /**
     * A key of a Secret of this namespace with the label llmservice.dev/secret-for=env, or =s3 for variables whose names begin with AWS_.
     */
    secretKeyRef?: {
      /**
       * Name of the object.
       */
      name: string;
      /**
       * Key in the object's data.
       */
      key: string;
      /**
       * Whether the object or the key may be absent.
       */
      optional?: boolean;
    };
    /**
     * A key of a ConfigMap of this namespace.
     */
    configMapKeyRef?: {
      /**
       * Name of the object.
       */
      name: string;
      /**
       * Key in the object's data.
       */
      key: string;
      /**
       * Whether the object or the key may be absent.
       */
      optional?: boolean;
    };
    /**
     * A field of the pod.
     */
    fieldRef?: {
      /**
       * Path of the field, such as status.podIP.
       */
      fieldPath: string;
    };
  };
}
/**
 * Requests and limits of the runtime container. Default: computed from the checkpoint. The device is added from accelerator.
 */
export interface ResourcesSpec {
  /**
   * What the scheduler reserves, by resource name.
   */
  requests?: {
    /**
     * A quantity such as 4 or 64Gi.
     */
    [k: string]: number | string;
  };
  /**
   * What the container may not exceed, by resource name.
   */
  limits?: {
    /**
     * A quantity such as 4 or 64Gi.
     */
    [k: string]: number | string;
  };
}
/**
 * One toleration.
 */
export interface Toleration {
  /**
   * Key of the taint. Without it, every key.
   */
  key?: string;
  /**
   * How value is compared; Equal when not set.
   */
  operator?: 'Exists' | 'Equal';
  /**
   * Value of the taint.
   */
  value?: string;
  /**
   * Effect of the taint. Without it, every effect.
   */
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  /**
   * How long a NoExecute taint is accepted. Without it, for ever.
   */
  tolerationSeconds?: number;
}
/**
 * One constraint.
 */
export interface TopologySpreadConstraint {
  /**
   * Largest difference of pods between two domains.
   */
  maxSkew: number;
  /**
   * Fewest domains to spread over.
   */
  minDomains?: number;
  /**
   * Node label whose values are the domains.
   */
  topologyKey: string;
  /**
   * What happens when a pod cannot be placed so.
   */
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  /**
   * Whether node affinity limits the domains; Honor when not set.
   */
  nodeAffinityPolicy?: 'Honor' | 'Ignore';
  /**
   * Whether taints limit the domains; Ignore when not set.
   */
  nodeTaintsPolicy?: 'Honor' | 'Ignore';
  /**
   * Pods that are counted. Default: the pods of this service.
   */
  labelSelector?: {
    /**
     * Labels that a pod must have.
     */
    matchLabels?: {
      /**
       * Value of the label.
       */
      [k: string]: string;
    };
  };
}
/**
 * Who may use the service, and how much.
 */
export interface AuthSpec {
  /**
   * Secret of this namespace whose key keys.yaml (or keys.json) lists the API keys, as hashes, with their budgets, and that has the label llmservice.dev/secret-for=keys. A change is taken over without a restart. Default: no key is asked for.
   */
  keysSecretRef?: {
    /**
     * Name of the object.
     */
    name: string;
  };
  /**
   * Most replicas that there will be. Each gives a key its part: the budget divided by this.
   */
  maxReplicas: number;
  /**
   * Whether /metrics asks for a key too, where there are keys. Health routes never do.
   */
  protectMetrics: boolean;
}
/**
 * The log of finished requests, with the tokens of each, for billing and audits.
 */
export interface AccountingSpec {
  /**
   * PersistentVolumeClaim of this namespace that the log is written to; of access mode ReadWriteMany where replicas run on several nodes. Default: no log is written.
   */
  persistentVolumeClaimRef?: {
    /**
     * Name of the object.
     */
    name: string;
  };
}
/**
 * What the operator observed.
 */
export interface LlmServiceStatus {
  /**
   * Generation of the spec that this status tells about.
   */
  observedGeneration?: number;
  /**
   * Answers to yes-or-no questions: ModelResolved, Fits, Scheduled, Loaded, Serving, Routed, StreamingVerified, Ready, Reconciling, Stalled; with scaling by load ScalingActive, with a budget WithinBudget.
   *
   * @maxItems 32
   */
  conditions?: Condition[];
  /**
   * Which route StreamingVerified tells about; absent until one was checked.
   */
  streamCheck?: {
    /**
     * Hash of what the route was made from.
     */
    route: string;
  };
  /**
   * What ca.crt of the ConfigMap in tls.caConfigMapRef holds, for the activator, which may read no ConfigMaps; absent where the service does not sleep.
   */
  certificateAuthorities?: string;
  /**
   * Where the service answers.
   */
  url?: string;
  /**
   * The served model's name.
   */
  model?: string;
  /**
   * Pods that exist.
   */
  replicas?: number;
  /**
   * Pods that serve.
   */
  readyReplicas?: number;
  /**
   * Label selector of the pods, for autoscalers.
   */
  selector?: string;
  loading?: LoadingStatus;
  /**
   * How long the newest pod that answers took until it did.
   */
  lastLoad?: {
    /**
     * Name of the pod.
     */
    pod: string;
    /**
     * From its creation until it was ready.
     */
    seconds: number;
  };
  /**
   * Schedules that hold now, those included whose pods are started ahead of time.
   *
   * @maxItems 16
   *
   * Items: One schedule.
   */
  activeSchedules?: {
    /**
     * Its name in scaling.schedules.
     */
    name: string;
    /**
     * When it ends.
     */
    until: string;
  }[];
  /**
   * What was taken of the budget in this month.
   */
  budget?: {
    /**
     * When the month began that is counted.
     */
    monthStart: string;
    /**
     * Seconds of devices taken since, up to updatedAt.
     */
    deviceSeconds: number;
    /**
     * Devices that pods had at updatedAt.
     */
    devicesHeld: number;
    /**
     * Until when it is counted; written every five minutes while devices are held.
     */
    updatedAt: string;
  };
  lastFailure?: LastFailure;
  memoryPlan?: MemoryPlanStatus;
}
/**
 * One condition.
 */
export interface Condition {
  /**
   * The question.
   */
  type: string;
  /**
   * The answer.
   */
  status: 'True' | 'False' | 'Unknown';
  /**
   * The cause in one stable word.
   */
  reason: string;
  /**
   * The cause and the remedy for a person.
   */
  message: string;
  /**
   * Generation of the spec that the answer is about.
   */
  observedGeneration?: number;
  /**
   * When status last changed.
   */
  lastTransitionTime: string;
}
/**
 * Progress of the pod that loads; absent when none does.
 */
export interface LoadingStatus {
  /**
   * pull: from S3 to the node; load: into memory; warmup: steps before the first request.
   */
  phase: 'pull' | 'load' | 'warmup';
  /**
   * Bytes done.
   */
  bytesDone: number;
  /**
   * Bytes to do in all.
   */
  bytesTotal: number;
  /**
   * Bytes a second over the last seconds.
   */
  bytesPerSecond?: number;
  /**
   * Seconds left at that rate.
   */
  etaSeconds?: number;
  /**
   * Of the warm-up, shapes that have run.
   */
  shapesDone?: number;
  /**
   * Of the warm-up, shapes to run in all.
   */
  shapesTotal?: number;
}
/**
 * The last failure, kept until the service works again.
 */
export interface LastFailure {
  /**
   * Stable word for the failure.
   */
  reason: string;
  /**
   * What happened.
   */
  message: string;
  /**
   * What to do about it.
   */
  remedy: string;
  /**
   * Whether nothing more is tried until something changes.
   */
  terminal: boolean;
  /**
   * When it happened.
   */
  at: string;
  /**
   * The pod that failed; absent when no pod was involved.
   */
  pod?: string;
  /**
   * Generation of the spec that failed.
   */
  generation?: number;
}
/**
 * How the memory of one device is divided. Sizes are of one device.
 */
export interface MemoryPlanStatus {
  /**
   * Devices of one replica.
   */
  devices?: number;
  /**
   * Memory of the device.
   */
  memoryBytes?: number;
  /**
   * Weights after sharding.
   */
  weightBytes?: number;
  /**
   * Recurrent state of maxNumSeqs sequences; 0 for models without.
   */
  stateBytes?: number;
  /**
   * Recurrent state of one sequence.
   */
  stateBytesPerSeq?: number;
  /**
   * Copies of a sequence's recurrent state that the prefix cache can keep.
   */
  numStateSnapshots?: number;
  /**
   * All of them.
   */
  stateSnapshotBytes?: number;
  /**
   * Activations of one step of maxNumBatchedTokens.
   */
  workspaceBytes?: number;
  /**
   * KV cache of one token.
   */
  kvBytesPerToken?: number;
  /**
   * KV cache of one block of blockSize tokens.
   */
  kvBytesPerBlock?: number;
  /**
   * Blocks of the KV cache.
   */
  numBlocks?: number;
  /**
   * Most tokens of one sequence, as asked for or the largest that fits.
   */
  maxModelLen?: number;
  /**
   * Sequences of maxModelLen tokens that the KV cache holds at once.
   */
  maxConcurrencyAtMaxLen?: number;
  /**
   * Whether this is an estimate, by what the native engine would take, for an engine that measures for itself.
   */
  estimate?: boolean;
  /**
   * The plan as a table.
   *
   * @maxItems 32
   *
   * Items: One part of the memory.
   */
  rows?: {
    /**
     * The part.
     */
    name: string;
    /**
     * Its size.
     */
    bytes: number;
    /**
     * How the size comes about.
     */
    note: string;
  }[];
}
