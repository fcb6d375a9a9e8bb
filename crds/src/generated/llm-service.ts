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
 * Desired state. Only model.uri is required.
 */
export interface LlmServiceSpec {
  /**
   * LlmServiceClass of the cluster whose defaults the service takes and whose bounds it keeps (deploy/docs/classes.md). Default: none.
   */
  className?: string;
  model: ModelSpec;
  /**
   * LoRA adapters of the model, each served beside it under its own name. Changes of the list take effect without a restart, as long as engine.maxAdapters is set.
   *
   * @maxItems 256
   *
   * Items: One adapter.
   */
  adapters?: {
    /**
     * Served name, which clients send as "model".
     */
    name: string;
    /**
     * Folder with adapter_config.json and adapter_model.safetensors, as PEFT writes them, as s3://BUCKET/PREFIX/; it is read with model.s3. If the files change, give them a new prefix.
     */
    uri: string;
  }[];
  accelerator: AcceleratorSpec;
  /**
   * How the model is split over devices.
   */
  parallelism: {
    /**
     * Number of tensor-parallel ranks of a stage, one per device. Default: accelerator.devices divided by pipeline.
     */
    tensor?: number;
    /**
     * Number of stages among which the layers are divided, each of tensor ranks. Stages compute different rows at once and pass on less than ranks of a stage do. CPUs alone.
     */
    pipeline: number;
    /**
     * Number of pods that share the ranks of one replica, each with as many devices. More than 1 needs the LeaderWorkerSet API in the cluster, and never changes to or from 1.
     */
    nodes: number;
  };
  engine: EngineSpec;
  /**
   * Environment variables of the runtime container. Child processes of the server, such as the engine, receive only those that devices, collectives and loaders read (CUDA_, HIP_, HSA_, NCCL_, OMP_, LD_LIBRARY_PATH, …), and no credentials. A variable that stands for a field of this spec (MAX_MODEL_LEN, GPU_MEMORY_UTILIZATION, …; deploy/docs/from-kserve.md lists them) sets a field that is unset or at its default. If it contradicts the field, the manifest is refused.
   *
   * @maxItems 128
   */
  env?: EnvVar[];
  /**
   * /dev/shm of the pod, through which ranks exchange data.
   */
  sharedMemory: {
    /**
     * Size of /dev/shm; it counts against the memory limit. Default: what the engine needs.
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
   * Scheduling affinity of the pods, as in a pod spec. The API server checks its inner fields when the operator applies the Deployment.
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
   * Node taints that the pods tolerate.
   *
   * @maxItems 32
   */
  tolerations?: Toleration[];
  /**
   * PriorityClass of the pods.
   */
  priorityClassName?: string;
  /**
   * LocalQueue of Kueue that admits the pods. While pods serve, Kueue refuses another name. Default: pods go to the scheduler at once.
   */
  queueName?: string;
  /**
   * How replicas are spread over zones or nodes.
   *
   * @maxItems 16
   */
  topologySpreadConstraints?: TopologySpreadConstraint[];
  /**
   * RuntimeClass of the pods.
   */
  runtimeClassName?: string;
  /**
   * ServiceAccount of the pods, one that the operator allows. The pods get no token for it. Default: default.
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
   * Additional group IDs of the pods' processes, such as that of render: for nodes whose device files belong to the group and where no device plugin grants access.
   *
   * @maxItems 16
   *
   * Items: A group ID.
   */
  supplementalGroups?: number[];
  /**
   * Additional pod labels, for network policies, monitors and cost reports.
   */
  podLabels?: {
    /**
     * Value of the label.
     */
    [k: string]: string;
  };
  /**
   * Additional pod annotations. Unless auth.protectMetrics is set, the operator adds those by which Prometheus finds /metrics (prometheus.io/scrape and the like); set them here to override them.
   */
  podAnnotations?: {
    /**
     * Value of the annotation.
     */
    [k: string]: string;
  };
  /**
   * Number of pods, each with its own devices. Leave it out of manifests if kubectl scale or an autoscaler sets it.
   */
  replicas: number;
  /**
   * Scales the number of pods by load and by schedule, and to zero when the service is idle, until the next request.
   */
  scaling: {
    /**
     * Min replicas when scaling by load. Default: 1.
     */
    minReplicas?: number;
    /**
     * Max replicas when scaling by load; setting it enables scaling by load. Default: replicas is set by hand.
     */
    maxReplicas?: number;
    /**
     * Metric that is kept near target, as an average over the pods. concurrency: running and waiting requests. queue: waiting requests. kvUsage: percentage of the KV cache in use.
     */
    metric: 'concurrency' | 'queue' | 'kvUsage';
    /**
     * Target value of the metric per pod. Default: 70 % of engine.maxNumSeqs for concurrency, 4 for queue, 80 for kvUsage.
     */
    target?: number;
    /**
     * The autoscaler. keda: a ScaledObject. hpa: a HorizontalPodAutoscaler. operator: the operator itself, from the pods' metrics. auto: keda where the cluster has it and the operator knows the address of Prometheus, otherwise hpa where the cluster has custom metrics, otherwise operator.
     */
    provider: 'auto' | 'keda' | 'hpa' | 'operator';
    /**
     * Seconds for which fewer replicas must have sufficed before scaling down.
     */
    scaleDownStabilizationSeconds: number;
    /**
     * Periods during which the service does not sleep and has at least minReplicas, however low the load.
     *
     * @maxItems 16
     *
     * Items: One recurring period.
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
       * Start, as a cron expression: minute, hour, day of month, month, day of week, such as "0 8 * * 1-5". Pods start earlier, by as long as the last load took, so that they are ready in time.
       */
      start: string;
      /**
       * End, as a cron expression.
       */
      end: string;
      /**
       * Min replicas during the period.
       */
      minReplicas: number;
    }[];
    /**
     * Seconds without requests after which the service scales to zero. The next request waits at the operator's activator while a pod loads. Default: the service never scales to zero.
     */
    idleAfterSeconds?: number;
    /**
     * Max seconds that a request waits for a pod; then the activator answers 503.
     */
    wakeTimeoutSeconds: number;
  };
  /**
   * Limit on device use per calendar month. A device counts from when its pod is bound to a node until the pod is gone, whether it serves or loads. Default: no limit.
   */
  budget: {
    /**
     * Max device hours, summed over devices and pods.
     */
    deviceHoursPerMonth?: number;
    /**
     * Max cost of those hours, such as "2500" or "99.50".
     */
    costPerMonth?: string;
    /**
     * Cost of one device per hour, such as "2.49".
     */
    costPerDeviceHour?: string;
    /**
     * Currency of both, used in messages only, such as EUR.
     */
    currency?: string;
    /**
     * Time zone of the calendar month.
     */
    timeZone: string;
    /**
     * What happens when the budget is spent. stop: no pods until the next month, or until the budget is raised. warn: only a condition and an event. Both warn when 80 % is spent.
     */
    action: 'stop' | 'warn';
  };
  /**
   * true: no pods, whatever replicas says, until it is false again. All other objects of the service stay.
   */
  stop: boolean;
  /**
   * Access from outside the cluster.
   */
  routing: {
    /**
     * Host name of the route at the operator's gateway. Default: no route; the service is reachable only inside the cluster.
     */
    host?: string;
    /**
     * Path prefix of the API's paths, such as /qwen36-27b, where several services share a host. The route strips it before the server. Default: none.
     */
    pathPrefix?: string;
    /**
     * Kind of the route. gatewayApi: an HTTPRoute. istio: a VirtualService and a DestinationRule. none: no route, even if host is set. auto: the first of gatewayApi and istio that the cluster has and the operator has a gateway for.
     */
    provider: 'auto' | 'gatewayApi' | 'istio' | 'none';
    /**
     * Where the route sends completions. service: to the Service, whose pods take turns. inferencePool: to an InferencePool (inference.networking.k8s.io/v1), whose endpoint picker chooses the pod by queue, KV cache and prefix. Until the cluster, the operator and the picker are ready for that, requests go to the Service.
     */
    backend: 'service' | 'inferencePool';
    /**
     * Service that answers at the public route while no pod of this one serves: while it loads, after it failed, and while it is stopped. Such responses have the header x-llmservice-fallback. Default: none.
     */
    fallback?: {
      /**
       * Another LlmService of this namespace. Both must have the same auth.keysSecretRef, or none.
       */
      service: string;
    };
  };
  /**
   * NetworkPolicy of the pods. It admits only the peers in from, the operator and, where the service may sleep, the activator. It requires a network plugin that enforces NetworkPolicies. Default: none; everything in the cluster can reach the pods.
   */
  networkPolicy?: {
    /**
     * Peers that may send requests: the pods of the gateway, clients inside the cluster, metrics scrapers. As in the ingress rules of a NetworkPolicy; the API server checks inner fields when the operator applies it.
     *
     * @minItems 1
     * @maxItems 16
     *
     * Items: One group of peers.
     */
    from: {
      /**
       * Namespaces whose pods are admitted (meta/v1 LabelSelector).
       */
      namespaceSelector?: {
        [k: string]: unknown;
      };
      /**
       * Pods that are admitted, in those namespaces, or in this one without a namespaceSelector (meta/v1 LabelSelector).
       */
      podSelector?: {
        [k: string]: unknown;
      };
      /**
       * Addresses that are admitted (networking/v1 IPBlock).
       */
      ipBlock?: {
        [k: string]: unknown;
      };
    }[];
  };
  /**
   * HTTPS served by the pods themselves, inside the cluster.
   */
  tls: {
    /**
     * Secret of this namespace with tls.crt and tls.key in PEM, as in type kubernetes.io/tls, and optionally client-ca.crt: the pods then answer only clients with a certificate from its authorities. The Secret needs the label llmservice.dev/secret-for=tls. Changes take effect without a restart. Default: plain HTTP.
     */
    secretRef?: {
      /**
       * Name of the object.
       */
      name: string;
    };
    /**
     * ConfigMap of this namespace whose key ca.crt holds, in PEM, the authorities of the certificate in secretRef. The gateway, the activator and the operator verify the pods with it; the certificate must have the name NAME.NAMESPACE.svc. Required with routing.host and with scaling.idleAfterSeconds.
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
   * Serves what clients of another server count on where the protocols leave it open. liftwing: those of Wikimedia's Lift Wing for Qwen 3.6; deploy/docs/from-kserve.md lists what differs.
   */
  compatibility: 'none' | 'liftwing';
  /**
   * Limits and logging of the server in each pod.
   */
  server?: {
    /**
     * Max size of a request body; the server refuses a larger one with 413. The upper bound is what activators accept for services that sleep. Default: 16777216.
     */
    maxBodyBytes?: number;
    /**
     * Max total size of decompressed request bodies that a pod holds at once, each until its response ends. Beyond it the pod answers 503, or 429 to a key that holds its share. At least twice maxBodyBytes. A pod needs up to five times as much memory for them. Default: a 32nd of the memory limit, 64 MiB to 512 MiB.
     */
    maxBodiesBytes?: number;
    /**
     * Max open connections of a pod. At the limit, a new connection closes the one that has been idle longest; if none is idle, the pod answers 503, except on the health routes. Default: 4096.
     */
    maxConnections?: number;
    /**
     * Which web pages of other origins may use the service. Their preflights are answered without a key; credentials that a browser keeps, such as cookies, are not allowed, so a page sends its API key itself. Default: none.
     */
    cors?: {
      /**
       * Origins as browsers send them, such as https://chat.example or http://127.0.0.1:3000, or * for all.
       *
       * @maxItems 32
       *
       * Items: An origin.
       */
      origins: string[];
    };
    /**
     * Lets requests of chats bring a chat_template of their own instead of the checkpoint's. Such a template is a program, which may take 5 s of a processor: set it where all clients are trusted. Default: false.
     */
    trustRequestChatTemplate?: boolean;
    /**
     * Keeps responses of /v1/responses, so that clients can continue them with previous_response_id, fetch and delete them, and run them in the background; and conversations of /v1/conversations. Clients find what they stored by the API key that stored it. Default: none are kept.
     */
    storedResponses?: {
      /**
       * Where, as s3://BUCKET/PREFIX/, at the checkpoint's endpoint and with its credentials, which must allow reading, writing, listing and deleting there. Default: in the memory of each pod, which other pods do not find, and which ends with the pod.
       */
      uri?: string;
      /**
       * Total size of stored responses; without a uri, memory in addition to what the pod needs otherwise. At the limit, the oldest responses of the API key that stores most are deleted. One response takes at most an eighth, and at most 4 MiB.
       */
      maxBytes: number;
      /**
       * Max stored responses. Default: 10000.
       */
      maxCount?: number;
      /**
       * Age at which a stored response is deleted. Default: 86400.
       */
      maxAgeSeconds?: number;
    };
    /**
     * Keeps files of /v1/files and runs batches of /v1/batches, whose requests are answered at the lowest priority. Clients find what they stored by the API key that stored it. Default: no files are kept and no batches run.
     */
    batches?: {
      /**
       * Where, as s3://BUCKET/PREFIX/, at the checkpoint's endpoint and with its credentials, which must allow reading, writing, listing and deleting there. The store must support conditional writes (If-None-Match and If-Match of PutObject). Default: in the memory of each pod, which other pods do not find, and which ends with the pod.
       */
      uri?: string;
      /**
       * Total size of files; without a uri, memory in addition to what the pod needs otherwise. At the limit uploads are refused: 503, or 429 for an API key that stores more than twice what it leaves free.
       */
      maxBytes: number;
      /**
       * Max size of an uploaded file. Default: 209715200.
       */
      maxFileBytes?: number;
      /**
       * Age at which a file or batch is deleted. Default: 2592000.
       */
      maxAgeSeconds?: number;
      /**
       * Max requests of batches that a pod answers at once. Default: half of engine.maxNumSeqs.
       */
      maxConcurrent?: number;
    };
    /**
     * Max answers that wait in a pod in addition to the engine.maxNumSeqs that run; a request with n counts n times. The pod refuses more with 503, or with 429 a key that holds its share of this queue; a scaling.metric of queue does not count those. Default: 1024.
     */
    maxWaiting?: number;
    /**
     * Lowest, and so most urgent, priority that requests may set in a service without keys; each key has its own bound. Default: 0, so that requests can only lower their urgency.
     */
    mostUrgentPriority?: number;
    /**
     * Lowest severity that a pod logs. Requests are logged at info, and kubectl llm drain counts those lines. Default: info.
     */
    logLevel?: 'error' | 'warn' | 'info' | 'debug';
  };
  /**
   * Writes the lines of the access log as objects to S3, at the checkpoint's endpoint and with its credentials. Default: none.
   */
  requestLog?: {
    /**
     * Destination, as s3://BUCKET/PREFIX/; the credentials must allow writing there.
     */
    uri: string;
    /**
     * Whether lines contain prompts and answers too, that is, what people wrote. By default no line does.
     */
    text: boolean;
  };
  /**
   * Administration port of each pod, for users who may forward ports to it: list and end running requests, flush the cache, drain, load other weights. Default: none.
   */
  administration?: {
    /**
     * Secret of this namespace whose key keys.yaml (or keys.json) lists the keys of administrators, as hashes. It needs the label llmservice.dev/secret-for=administration. Changes take effect without a restart.
     */
    keysSecretRef: {
      /**
       * Name of the object.
       */
      name: string;
    };
    /**
     * Checkpoints that administrators may load in addition to model.uri: each as s3://BUCKET/PREFIX/, including everything below it. Default: none.
     *
     * @maxItems 32
     *
     * Items: A prefix of a bucket.
     */
    allowedUris?: string[];
  };
  /**
   * How pods are replaced, and the time limits of startup and shutdown.
   */
  rollout: {
    /**
     * Surge: a new pod serves before an old one is removed; it waits for its devices. Drain: an old pod is removed first. Auto: Surge where a node has room for one more pod, otherwise Drain.
     */
    strategy: 'Auto' | 'Surge' | 'Drain';
    /**
     * Time that running requests have to finish, and clients to read their answers, after a pod is asked to stop.
     */
    drainTimeoutSeconds: number;
    /**
     * Time without progress after which a load counts as failed. A load that makes progress may take as long as it needs.
     */
    noProgressTimeoutSeconds: number;
  };
  /**
   * How a new revision is tried on a part of the requests at routing.host before it replaces the stable one. A change of the spec that replaces pods starts it; the pods of the stable revision stay until the last step has passed. Default: none; a new revision replaces the old one at once.
   */
  canary?: {
    /**
     * Pods of the canary, beside those of the stable revision.
     */
    replicas: number;
    /**
     * What the canary gets, one step after the other. After the last one it becomes the stable revision.
     *
     * @minItems 1
     * @maxItems 20
     *
     * Items: One step.
     */
    steps: {
      /**
       * Percentage of the requests that the canary answers.
       */
      weight: number;
      /**
       * Percentage of the stable revision's requests that the canary gets too. Nobody sees its answers.
       */
      mirrorPercent: number;
      /**
       * How long the step lasts. Default: until the annotation llmservice.dev/promote names the canary's revision, status.canary.revision.
       */
      pauseSeconds?: number;
    }[];
    /**
     * Compares the metrics of the canary's pods with those of the stable pods since the step began. A canary that is worse is taken back; a step ends only after one that is not. Default: none; only a canary whose pods fail is taken back.
     */
    analysis?: {
      /**
       * Requests that both must have answered in a step before they are compared.
       */
      minRequests: number;
      /**
       * Percentage points by which its share of failed requests may be higher.
       */
      maxErrorPoints: number;
      /**
       * Percentage points by which its share of requests refused for a full queue may be higher.
       */
      maxRefusalPoints: number;
      /**
       * Percentage by which its mean time to the first token may be longer.
       */
      maxFirstTokenIncreasePercent: number;
      /**
       * Percentage by which its mean time per output token may be longer.
       */
      maxTokenTimeIncreasePercent: number;
      /**
       * Percentage by which its answers may be longer or shorter, in tokens.
       */
      maxLengthChangePercent: number;
    };
  };
  /**
   * Prefill and decode apart: prefill pods compute long prompts and hand the KV blocks to the decode pods, which serve clients (deploy/docs/disaggregation.md). Decode pods are those of replicas. Default: none; every pod computes its own prompts.
   */
  disaggregation?: {
    /**
     * The prefill pods.
     */
    prefill: {
      /**
       * Number of prefill pods. With 0 decode pods compute all prompts.
       */
      replicas: number;
      /**
       * Requests and limits of prefill pods where they differ from those of decode pods, by name. Devices are the same.
       */
      resources?: {
        /**
         * Resources that the scheduler reserves, by name.
         */
        requests?: {
          /**
           * A quantity such as 4 or 64Gi.
           */
          [k: string]: number | string;
        };
        /**
         * Max resources of the container, by name.
         */
        limits?: {
          /**
           * A quantity such as 4 or 64Gi.
           */
          [k: string]: number | string;
        };
      };
    };
    /**
     * A prompt goes to a prefill pod where at least so many of its tokens are not in the prefix cache of the decode pod.
     */
    minPromptTokens: number;
  };
}
/**
 * The checkpoint to serve, and the names to serve it under.
 */
export interface ModelSpec {
  /**
   * Location of the checkpoint. A folder, s3://BUCKET/PREFIX/, holds config.json, tokenizer.json and *.safetensors, or one .gguf file. A single file is s3://BUCKET/PREFIX/NAME.gguf; of a split one, name the first part, NAME-00001-of-00003.gguf. A repository of a hub of models is hf://OWNER/NAME, with @REVISION (a branch, tag or commit; main by default) and /FOLDER or /FILE.gguf where they are needed. An artifact in a registry is oci://REGISTRY/REPOSITORY:TAG or @sha256:DIGEST, with /FOLDER or /FILE.gguf behind it. A folder on a PersistentVolumeClaim of this namespace, which pods mount read-only, is pvc://CLAIM/FOLDER. A bucket of Google Cloud Storage, read by its S3 API with model.s3, is gs://BUCKET/PREFIX/. Files that a list over HTTPS names are https://HOST/PATH/LIST.json, with @sha256:DIGEST of the list (over http:// always), and /FOLDER or /FILE.gguf behind it.
   */
  uri: string;
  /**
   * Served model name, which clients send as "model". Default: metadata.name.
   */
  name?: string;
  /**
   * Additional served names of the same model.
   *
   * @maxItems 16
   *
   * Items: One additional served name.
   */
  aliases?: string[];
  s3: S3Spec;
  /**
   * Access to the hub of models of an hf:// URI. Default: huggingface.co without a token.
   */
  hub: {
    /**
     * Base URL of a server with the API of the Hugging Face Hub. It must be public, or one that the operator allows. Default: https://huggingface.co.
     */
    endpoint?: string;
    /**
     * Secret of this namespace with the key HF_TOKEN. It needs the label llmservice.dev/secret-for=hub. Default: requests name nobody.
     */
    tokenSecretRef?: {
      /**
       * Name of the Secret.
       */
      name: string;
    };
    /**
     * ConfigMap of this namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.
     */
    caConfigMapRef?: {
      /**
       * Name of the ConfigMap.
       */
      name: string;
    };
  };
  /**
   * Access to the registry of an oci:// URI. Default: over HTTPS, without credentials.
   */
  oci: {
    /**
     * How pods get the artifact of model.uri. pull: the runtime pulls its files. imageVolume: the kubelet pulls it as an image, with spec.imagePullSecrets, and mounts it read-only, by the digest that the preflight found; Kubernetes has such volumes by default from 1.35 on. Drafts and adapters are pulled.
     */
    delivery: 'pull' | 'imageVolume';
    /**
     * The registry answers over HTTP, without TLS, such as one inside the cluster. It must be public, or one that the operator allows.
     */
    plainHttp: boolean;
    /**
     * Secret of this namespace of type kubernetes.io/dockerconfigjson, as kubectl create secret docker-registry makes it. It needs the label llmservice.dev/secret-for=oci. Default: requests name nobody.
     */
    credentialsSecretRef?: {
      /**
       * Name of the Secret.
       */
      name: string;
    };
    /**
     * ConfigMap of this namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.
     */
    caConfigMapRef?: {
      /**
       * Name of the ConfigMap.
       */
      name: string;
    };
  };
  /**
   * Access to the server of an https:// list of files. Default: requests name nobody.
   */
  list: {
    /**
     * Secret of this namespace with the key MODEL_LIST_TOKEN, which goes to the host of the list alone, as Authorization: Bearer. It needs the label llmservice.dev/secret-for=list. Default: requests name nobody.
     */
    tokenSecretRef?: {
      /**
       * Name of the Secret.
       */
      name: string;
    };
    /**
     * ConfigMap of this namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.
     */
    caConfigMapRef?: {
      /**
       * Name of the ConfigMap.
       */
      name: string;
    };
  };
  /**
   * Storage of pulled weights. On a folder of the node, or on a claim, weights are pulled once: every later pod, of any service, starts from them without reading the bucket.
   */
  cache: {
    /**
     * emptyDir: each pod pulls its own copy. hostPath: a folder of the node, for namespaces that allow hostPath, in folders that the operator is installed to allow. pvc: a PersistentVolumeClaim of this namespace, for namespaces with the restricted profile.
     */
    kind: 'emptyDir' | 'hostPath' | 'pvc';
    /**
     * Folder of the node, such as /var/cache/llmservice; the operator must be installed to allow it. Each namespace has its own folder in it, which is created if it is missing.
     */
    path?: string;
    /**
     * Name of the PersistentVolumeClaim.
     */
    claimName?: string;
    /**
     * Max size of the cache. Beyond it, checkpoints that no pod uses are evicted, least recently used first. Default: the size of the disk.
     */
    maxSize?: string;
    /**
     * When files are compared with the digests that S3 keeps. onPull: after the pull; later starts compare size and time only. always: at every start, which reads the files once more.
     */
    verify: 'onPull' | 'always';
    /**
     * Pulls the weights before a pod starts: by a Job on each node that may serve, or by one Job into the claim.
     */
    prePull: boolean;
  };
}
/**
 * Access to the bucket. Default: AWS S3 without credentials.
 */
export interface S3Spec {
  /**
   * Base URL of an S3-compatible server, such as https://s3.example.org. It must be public, or one that the operator allows. Default: AWS S3, of gs:// URIs https://storage.googleapis.com.
   */
  endpoint?: string;
  /**
   * Region that requests are signed for. Default: the environment variable AWS_REGION, otherwise us-east-1.
   */
  region?: string;
  /**
   * Puts the bucket name into the path instead of the host name, as most S3-compatible servers expect.
   */
  forcePathStyle: boolean;
  /**
   * Secret of this namespace with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. It needs the label llmservice.dev/secret-for=s3. Default: requests are not signed.
   */
  credentialsSecretRef?: {
    /**
     * Name of the Secret.
     */
    name: string;
  };
  /**
   * ConfigMap of this namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.
   */
  caConfigMapRef?: {
    /**
     * Name of the ConfigMap.
     */
    name: string;
  };
}
/**
 * The devices of one replica.
 */
export interface AcceleratorSpec {
  /**
   * Name of the device type, such as mi300x-cpx-nps4 or h100-3g.40gb. It sets the resource, memory and variables; deploy/docs/accelerators.md lists all profiles. Default: the other fields alone describe the device.
   */
  profile?: string;
  /**
   * Extended resource of the devices: amd.com/gpu, nvidia.com/gpu or a partition such as nvidia.com/mig-3g.40gb. none: the CPU, or the profile's resource if a profile is set.
   */
  resourceName: string;
  /**
   * Number of devices of one replica. A partition (MI300X CPX, MIG) counts as a device. The native runtime supports max 8 GPUs, unless engine.collectives is library.
   */
  devices: number;
  /**
   * Memory of one device, or of one partition where the card is partitioned. On the CPU: the memory that the engine plans with. Default: on the CPU the memory limit, otherwise the profile's memory or what the engine measures.
   */
  memoryPerDevice?: string;
  /**
   * Asks for the devices by a ResourceClaim (resource.k8s.io/v1) in place of an extended resource. {}: the claim is planned from the profile. Default: the extended resource.
   */
  claim?: {
    /**
     * ResourceClaimTemplate of the namespace. It must ask for accelerator.devices devices of the profile in all. Default: the operator makes one.
     */
    templateName?: string;
    /**
     * DeviceClass of the devices. Default: gpu.nvidia.com, for a MIG partition mig.nvidia.com, or gpu.amd.com, as the vendors' drivers install them.
     */
    deviceClassName?: string;
    /**
     * CEL expressions over device, which all must hold, in place of the planned ones. Default: the card and the partition of the profile.
     *
     * @minItems 1
     * @maxItems 8
     *
     * Items: A CEL expression, such as device.driver == 'gpu.nvidia.com'.
     */
    selectors?: string[];
  };
}
/**
 * Settings of the inference engine.
 */
export interface EngineSpec {
  /**
   * The serving runtime. native: the engine of this project. vllm: a vLLM image, with arguments derived from the same fields, for models that the native engine does not support; deploy/docs/vllm.md lists the differences.
   */
  runtime: 'native' | 'vllm';
  /**
   * Image of the runtime, from a repository that the operator allows. Default: the image that the operator is installed with for this runtime and device type.
   */
  image?: string;
  /**
   * Additional arguments of vllm serve, appended to those derived from this spec. If an option is given twice, vLLM takes the last.
   *
   * @maxItems 64
   *
   * Items: One argument, such as --enable-expert-parallel.
   */
  args?: string[];
  /**
   * What stands around reasoning, by vLLM's names of parsers, such as qwen3. Default of the native runtime: <think> where the tokenizer has it, or the channel of Gemma 4; of vLLM: reasoning is not separated from answers.
   */
  reasoningParser?: string;
  /**
   * How the model writes tool calls, by vLLM's names of parsers, such as hermes or qwen3_xml. Default of the native runtime: as the chat template writes them; of vLLM: no tools.
   */
  toolCallParser?: string;
  /**
   * What requests with tools get if the chat template shows the model none. describe: the system message describes the tools, and how to call them; refuse: status 400, tools_not_supported. Default: describe.
   */
  toolsWithoutTemplate?: 'describe' | 'refuse';
  /**
   * Tokens of the vocabulary whose logits behind a prompt are those of labels, as vLLM's classifier_from_token; [no, yes] for Qwen3-Reranker. /classify returns the labels' probabilities; /v1/rerank and /v1/score, of two tokens, that of the second. Default: classifier_from_token of the checkpoint's config.json.
   *
   * @minItems 2
   * @maxItems 16
   *
   * Items: One token as the vocabulary spells it.
   */
  classifierFromToken?: string[];
  /**
   * Max context length: tokens of prompt and output together. Default: the largest that fits; status.memoryPlan.maxModelLen reports it.
   */
  maxModelLen?: number;
  /**
   * Percentage of a device's memory that the engine may use.
   */
  memoryUtilizationPercent: number;
  /**
   * Max sequences in one step.
   */
  maxNumSeqs: number;
  /**
   * Max tokens in one step; at least maxNumSeqs + 64. On CPUs the native engine gives prompts fewer, as many as take 250 ms.
   */
  maxNumBatchedTokens: number;
  /**
   * Tokens per KV cache block. With the default value, vLLM chooses its own.
   */
  blockSize: 16 | 32 | 64 | 128;
  /**
   * Whether a prompt may reuse the cached prefix that it shares with an earlier prompt. Answers do not depend on it.
   */
  prefixCaching: boolean;
  /**
   * Data type of the KV cache and of unquantized weights in memory; auto is bfloat16.
   */
  dtype: 'auto' | 'bfloat16' | 'float32';
  /**
   * Type of activations where they multiply a matrix on the CPU. float32: float32 on every machine. auto: BF16 where the machine multiplies these faster (AVX-512 BF16), but for F16 matrices; 16 bits in fixed point on AVX2 alone, for Q4_K and Q6_K; otherwise float32. GPUs always round; there only auto is valid.
   */
  exactness: 'auto' | 'float32';
  /**
   * Data type of the KV cache; auto is dtype. fp8 (e4m3, one scale per token and head) holds nearly twice the context in the same memory, at some loss of accuracy.
   */
  kvCacheDtype: 'auto' | 'fp8';
  /**
   * Quantization of unquantized matrices at load: fp8 (e4m3, one scale per 128x128 block) or int8 (one scale per output). Embeddings, routers and other small matrices stay unquantized.
   */
  quantization: 'none' | 'fp8' | 'int8';
  speculative: SpeculativeSpec;
  /**
   * Max LoRA adapters at once, those that administrators load included; the memory plan keeps room for as many. Default: the length of adapters, so that a list of another length restarts the pods.
   */
  maxAdapters?: number;
  /**
   * Max rank of a LoRA adapter; the memory plan keeps room for adapters of this rank.
   */
  maxAdapterRank: number;
  /**
   * Implementation of all-reduce between GPU ranks. own: the engine's, in rank order. library: NCCL or RCCL, which the image must contain; its order varies, so the last bits of answers may differ from run to run. auto: own where devices can access each other's memory, otherwise library.
   */
  collectives: 'auto' | 'own' | 'library';
  /**
   * Whether each rank of the native engine, once loaded, is compared with the checkpoint's values and a scalar reference: one layer of each kind, in well under a second for small models. A device or driver that computes wrongly then fails with EngineNumericalFault before the pod is ready.
   */
  selfCheck: boolean;
  /**
   * Warm-up steps that the native engine runs before it is ready: the largest step, which proves that memory suffices, and the shapes that requests use. Answers do not depend on it.
   */
  warmup: {
    /**
     * Shapes to warm up. auto: contexts up to 8,192 tokens on GPUs, none on CPUs. short: contexts up to 1,024. long: contexts above 8,192. all: all of them. none: only those in shapes.
     */
    preset: 'auto' | 'short' | 'long' | 'all' | 'none';
    /**
     * Additional requests to warm up, as PROMPT:MAX: tokens of the prompt, and of prompt and output together, such as 3000:4096. They run before those of the preset.
     *
     * @maxItems 32
     *
     * Items: PROMPT:MAX in tokens.
     */
    shapes?: string[];
    /**
     * Seconds after which no further shape starts; the log names the shapes that were skipped.
     */
    timeLimitSeconds: number;
  };
  /**
   * Whether the model thinks about requests that do not say whether it should. Default: as the chat template has it, and no on :predict.
   */
  thinkingDefault?: boolean;
  /**
   * Sampling of requests that do not set it, where it differs from the checkpoint's generation_config.json. Model cards often recommend one set with thinking and one without.
   */
  samplingDefaults?: {
    /**
     * For answers with thinking: the request asks for it, or does not say and thinking is the default.
     */
    thinking?: {
      /**
       * Default of temperature; 0 is greedy.
       */
      temperature?: number;
      /**
       * Default of top_p.
       */
      topP?: number;
      /**
       * Default of top_k; 0 and -1 switch it off.
       */
      topK?: number;
      /**
       * Default of min_p.
       */
      minP?: number;
      /**
       * Default of presence_penalty.
       */
      presencePenalty?: number;
      /**
       * Default of frequency_penalty.
       */
      frequencyPenalty?: number;
      /**
       * Default of repetition_penalty.
       */
      repetitionPenalty?: number;
    };
    /**
     * For answers without thinking.
     */
    plain?: {
      /**
       * Default of temperature; 0 is greedy.
       */
      temperature?: number;
      /**
       * Default of top_p.
       */
      topP?: number;
      /**
       * Default of top_k; 0 and -1 switch it off.
       */
      topK?: number;
      /**
       * Default of min_p.
       */
      minP?: number;
      /**
       * Default of presence_penalty.
       */
      presencePenalty?: number;
      /**
       * Default of frequency_penalty.
       */
      frequencyPenalty?: number;
      /**
       * Default of repetition_penalty.
       */
      repetitionPenalty?: number;
    };
  };
}
/**
 * Speculative decoding: draft tokens are proposed, and several are verified in one step. Only speed depends on it, not answers.
 */
export interface SpeculativeSpec {
  /**
   * Source of draft tokens. ngram: the text that followed the same words earlier, suited to answers that repeat their prompts. mtp: the checkpoint's own layer for multi-token prediction. eagle3: the EAGLE-3 draft model that uri names. draft_model: the smaller model with the same tokenizer that uri names.
   */
  method: 'none' | 'ngram' | 'mtp' | 'eagle3' | 'draft_model';
  /**
   * Max draft tokens per sequence and step. The engine drafts fewer when the measured acceptance rate shows that they do not pay.
   */
  tokens: number;
  /**
   * For method mtp: another release of the same model, as s3://BUCKET/PREFIX/, whose layer drafts where the checkpoint has none (such as an NVFP4 release for an FP8 one). Of its weight files, only those with the layer are read. For methods eagle3 and draft_model: the draft model, in safetensors. That of eagle3 was trained for this model; that of draft_model has its vocabulary.
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
   * Value of the variable. Default: empty.
   */
  value?: string;
  /**
   * Source of the value.
   */
  valueFrom?: {
    /**
     * A key of a Secret of this namespace. The Secret needs the label llmservice.dev/secret-for=env, or =s3 for variables whose names begin with AWS_.
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
 * Requests and limits of the runtime container. Default: computed from the checkpoint. The operator adds the device from accelerator.
 */
export interface ResourcesSpec {
  /**
   * Resources that the scheduler reserves, by name.
   */
  requests?: {
    /**
     * A quantity such as 4 or 64Gi.
     */
    [k: string]: number | string;
  };
  /**
   * Max resources of the container, by name.
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
   * Key of the taint. Default: every key.
   */
  key?: string;
  /**
   * How the value is compared. Default: Equal.
   */
  operator?: 'Exists' | 'Equal';
  /**
   * Value of the taint.
   */
  value?: string;
  /**
   * Effect of the taint. Default: every effect.
   */
  effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  /**
   * How long the pods tolerate a NoExecute taint. Default: forever.
   */
  tolerationSeconds?: number;
}
/**
 * One constraint.
 */
export interface TopologySpreadConstraint {
  /**
   * Max difference in the number of pods between two domains.
   */
  maxSkew: number;
  /**
   * Min number of domains.
   */
  minDomains?: number;
  /**
   * Node label whose values are the domains.
   */
  topologyKey: string;
  /**
   * What happens if a pod cannot satisfy the constraint.
   */
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  /**
   * Whether node affinity limits the domains. Default: Honor.
   */
  nodeAffinityPolicy?: 'Honor' | 'Ignore';
  /**
   * Whether taints limit the domains. Default: Ignore.
   */
  nodeTaintsPolicy?: 'Honor' | 'Ignore';
  /**
   * Pods to count. Default: the pods of this service.
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
   * Secret of this namespace whose key keys.yaml (or keys.json) lists the API keys, as hashes, with their budgets. It needs the label llmservice.dev/secret-for=keys. Changes take effect without a restart. Default: requests need no key.
   */
  keysSecretRef?: {
    /**
     * Name of the object.
     */
    name: string;
  };
  /**
   * Max number of replicas. Each replica grants a key its budget divided by this number.
   */
  maxReplicas: number;
  /**
   * Whether /metrics requires a key too, where there are keys. Health routes never require one.
   */
  protectMetrics: boolean;
}
/**
 * Log of finished requests with the tokens of each, for billing and audits.
 */
export interface AccountingSpec {
  /**
   * PersistentVolumeClaim of this namespace to write the log to; it needs access mode ReadWriteMany where replicas run on several nodes. Default: no log.
   */
  persistentVolumeClaimRef?: {
    /**
     * Name of the object.
     */
    name: string;
  };
}
/**
 * Observed state.
 */
export interface LlmServiceStatus {
  /**
   * Generation of the spec that this status reflects.
   */
  observedGeneration?: number;
  /**
   * Condition types: ModelResolved, Fits, Scheduled, Loaded, Serving, Routed, StreamingVerified, Ready, Reconciling, Stalled; with scaling by load also ScalingActive, with a budget also WithinBudget; with adapters also AdaptersLoaded; with a canary also CanaryPassing; with a class also ClassResolved.
   *
   * @maxItems 32
   */
  conditions?: Condition[];
  class?: ClassStatus;
  /**
   * The revision that is tried beside the stable one; absent when none is.
   */
  canary?: {
    /**
     * Its pod template, as the annotation llmservice.dev/revision of its pods names it.
     */
    revision: string;
    /**
     * starting: its pods do not answer yet. step: it gets what the step says. promoting: it becomes the stable revision. leaving: it gets no new requests and ends.
     */
    phase: 'starting' | 'step' | 'promoting' | 'leaving';
    /**
     * Number of the step, from 1; 0 before the first.
     */
    step: number;
    /**
     * Number of steps.
     */
    steps: number;
    /**
     * Percentage of the requests that it answers.
     */
    weight: number;
    /**
     * Percentage of the requests that it gets as copies.
     */
    mirrorPercent: number;
    /**
     * When the phase, or the step, began.
     */
    since: string;
    /**
     * Label pod-template-hash of the stable pods, by which the Service selects them meanwhile.
     */
    stableHash?: string;
  };
  /**
   * The route that StreamingVerified reports on; absent until one is checked.
   */
  streamCheck?: {
    /**
     * Hash of the inputs of the route.
     */
    route: string;
  };
  /**
   * Content of ca.crt in the ConfigMap of tls.caConfigMapRef, for the activator, which may not read ConfigMaps; absent if the service does not sleep.
   */
  certificateAuthorities?: string;
  /**
   * URL of the service.
   */
  url?: string;
  /**
   * Served model name.
   */
  model?: string;
  /**
   * Number of pods.
   */
  replicas?: number;
  /**
   * Number of pods that serve.
   */
  readyReplicas?: number;
  /**
   * Prefill pods, where spec.disaggregation asks for them.
   */
  prefill?: {
    /**
     * Number of prefill pods.
     */
    replicas: number;
    /**
     * Number of prefill pods that take prompts.
     */
    ready: number;
  };
  /**
   * Label selector of the pods, for autoscalers.
   */
  selector?: string;
  loading?: LoadingStatus;
  /**
   * Startup time of the newest ready pod.
   */
  lastLoad?: {
    /**
     * Name of the pod.
     */
    pod: string;
    /**
     * Seconds from its creation until it was ready.
     */
    seconds: number;
  };
  /**
   * Active schedules, including those whose pods start ahead of time.
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
   * Device use in the current month.
   */
  budget?: {
    /**
     * Start of the month that is counted.
     */
    monthStart: string;
    /**
     * Device seconds from monthStart to updatedAt.
     */
    deviceSeconds: number;
    /**
     * Devices that pods held at updatedAt.
     */
    devicesHeld: number;
    /**
     * End of the counted time; updated every five minutes while devices are held.
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
   * Type of the condition.
   */
  type: string;
  /**
   * Whether the condition holds.
   */
  status: 'True' | 'False' | 'Unknown';
  /**
   * Cause, as one stable word.
   */
  reason: string;
  /**
   * Cause and remedy, for a person.
   */
  message: string;
  /**
   * Generation of the spec that the condition reflects.
   */
  observedGeneration?: number;
  /**
   * When status last changed.
   */
  lastTransitionTime: string;
}
/**
 * What the service took from its class, and keeps until its own spec or the annotation llmservice.dev/refresh-class changes; absent without spec.className.
 */
export interface ClassStatus {
  /**
   * Name of the LlmServiceClass.
   */
  name: string;
  /**
   * Generation of the class that the values are of.
   */
  generation: number;
  /**
   * Hash of what pods depend on in the service's own spec, for which the values were taken.
   */
  specHash: string;
  /**
   * Hash of the service's own spec, but for replicas and stop, that the bounds admitted.
   */
  admittedHash: string;
  /**
   * Value of the annotation llmservice.dev/refresh-class at that time; empty when absent.
   */
  refresh: string;
  /**
   * Max pods that the class last allowed, which hold where it is gone or cannot be read; absent where it had no bound.
   */
  maxReplicas?: number;
  /**
   * Values of the class that apply, by the names of the fields of spec.
   */
  values: {
    [k: string]: unknown;
  };
}
/**
 * Progress of the pod that loads; absent when none does.
 */
export interface LoadingStatus {
  /**
   * pull: from S3 to the node; load: into memory; warmup: warm-up steps before the first request.
   */
  phase: 'pull' | 'load' | 'warmup';
  /**
   * Bytes done.
   */
  bytesDone: number;
  /**
   * Total bytes.
   */
  bytesTotal: number;
  /**
   * Bytes per second over the last seconds.
   */
  bytesPerSecond?: number;
  /**
   * Seconds left at that rate.
   */
  etaSeconds?: number;
  /**
   * Warm-up shapes that have run.
   */
  shapesDone?: number;
  /**
   * Total warm-up shapes.
   */
  shapesTotal?: number;
}
/**
 * Last failure, kept until the service works again.
 */
export interface LastFailure {
  /**
   * Stable name of the failure.
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
   * Whether the operator stops retrying until something changes.
   */
  terminal: boolean;
  /**
   * When it happened.
   */
  at: string;
  /**
   * Pod that failed; absent when no pod was involved.
   */
  pod?: string;
  /**
   * Generation of the spec that failed.
   */
  generation?: number;
}
/**
 * Memory plan of one device; all sizes are per device.
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
   * Recurrent state of maxNumSeqs sequences; 0 for models without recurrent state.
   */
  stateBytes?: number;
  /**
   * Recurrent state of one sequence.
   */
  stateBytesPerSeq?: number;
  /**
   * Snapshots of a sequence's recurrent state that the prefix cache can keep.
   */
  numStateSnapshots?: number;
  /**
   * Total size of the snapshots.
   */
  stateSnapshotBytes?: number;
  /**
   * Activations of one step of maxNumBatchedTokens.
   */
  workspaceBytes?: number;
  /**
   * Room for the LoRA adapters of spec.adapters.
   */
  adapterBytes?: number;
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
   * Max tokens of one sequence: the requested value, or the largest that fits.
   */
  maxModelLen?: number;
  /**
   * Sequences of maxModelLen tokens that the KV cache holds at once.
   */
  maxConcurrencyAtMaxLen?: number;
  /**
   * Whether the plan is an estimate, based on the native engine, for an engine that measures for itself.
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
     * Name of the part.
     */
    name: string;
    /**
     * Size of the part.
     */
    bytes: number;
    /**
     * How the size is computed.
     */
    note: string;
  }[];
}
