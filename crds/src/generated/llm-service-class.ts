// Generated from crds/llmserviceclasses.llmservice.dev.yaml by `npm run generate`. Do not edit.

/**
 * Defaults and bounds of a platform for the LlmServices that name it by spec.className. It belongs to no namespace.
 */
export interface LlmServiceClass {
  apiVersion: 'llmservice.dev/v1alpha1';
  kind: 'LlmServiceClass';
  metadata: LlmServiceMetadata;
  spec: LlmServiceClassSpec;
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
 * What services take from it, and what they may ask for.
 */
export interface LlmServiceClassSpec {
  defaults?: ClassDefaults;
  bounds?: ClassBounds;
}
/**
 * Values that a service takes where its own spec has none, by the names of its own fields. A value that the API server fills in (an accelerator.resourceName of none, a model.cache of kind emptyDir) counts as none.
 */
export interface ClassDefaults {
  /**
   * Access from outside the cluster.
   */
  routing?: {
    /**
     * Domain below which services get a host: NAME.NAMESPACE.HOSTSUFFIX becomes routing.host of a service that has none and whose routing.provider is not none.
     */
    hostSuffix?: string;
  };
  /**
   * The checkpoint to serve, and the names to serve it under.
   */
  model?: {
    /**
     * Access to the bucket. Default: AWS S3 without credentials.
     */
    s3?: {
      /**
       * Base URL of an S3-compatible server, such as https://s3.example.org. It must be public, or one that the operator allows. Default: AWS S3, of gs:// URIs https://storage.googleapis.com.
       */
      endpoint?: string;
      /**
       * Region that requests are signed for. Default: the environment variable AWS_REGION, otherwise us-east-1.
       */
      region?: string;
      /**
       * Secret of the service's namespace with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. It needs the label llmservice.dev/secret-for=s3. Default: requests are not signed.
       */
      credentialsSecretRef?: {
        /**
         * Name of the Secret.
         */
        name: string;
      };
      /**
       * ConfigMap of the service's namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.
       */
      caConfigMapRef?: {
        /**
         * Name of the ConfigMap.
         */
        name: string;
      };
    };
    /**
     * Access to the hub of models of an hf:// URI. Default: huggingface.co without a token.
     */
    hub?: {
      /**
       * Base URL of a server with the API of the Hugging Face Hub. It must be public, or one that the operator allows. Default: https://huggingface.co.
       */
      endpoint?: string;
      /**
       * Secret of the service's namespace with the key HF_TOKEN. It needs the label llmservice.dev/secret-for=hub. Default: requests name nobody.
       */
      tokenSecretRef?: {
        /**
         * Name of the Secret.
         */
        name: string;
      };
      /**
       * ConfigMap of the service's namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.
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
    oci?: {
      /**
       * Secret of the service's namespace of type kubernetes.io/dockerconfigjson, as kubectl create secret docker-registry makes it. It needs the label llmservice.dev/secret-for=oci. Default: requests name nobody.
       */
      credentialsSecretRef?: {
        /**
         * Name of the Secret.
         */
        name: string;
      };
      /**
       * ConfigMap of the service's namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.
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
    list?: {
      /**
       * Secret of the service's namespace with the key MODEL_LIST_TOKEN, which goes to the host of the list alone, as Authorization: Bearer. It needs the label llmservice.dev/secret-for=list. Default: requests name nobody.
       */
      tokenSecretRef?: {
        /**
         * Name of the Secret.
         */
        name: string;
      };
      /**
       * ConfigMap of the service's namespace whose key ca.crt holds PEM certificates to trust in addition to the system's.
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
    cache?: {
      /**
       * emptyDir: each pod pulls its own copy. hostPath: a folder of the node, for namespaces that allow hostPath, in folders that the operator is installed to allow. pvc: a PersistentVolumeClaim of the service's namespace, for namespaces with the restricted profile.
       */
      kind?: 'emptyDir' | 'hostPath' | 'pvc';
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
      verify?: 'onPull' | 'always';
      /**
       * Pulls the weights before a pod starts: by a Job on each node that may serve, or by one Job into the claim.
       */
      prePull?: boolean;
    };
  };
  /**
   * The devices of one replica.
   */
  accelerator?: {
    /**
     * Name of the device type, such as mi300x-cpx-nps4 or h100-3g.40gb. It sets the resource, memory and variables; deploy/docs/accelerators.md lists all profiles. Default: the other fields alone describe the device.
     */
    profile?: string;
    /**
     * Extended resource of the devices: amd.com/gpu, nvidia.com/gpu or a partition such as nvidia.com/mig-3g.40gb. none: the CPU, or the profile's resource if a profile is set.
     */
    resourceName?: string;
    /**
     * Memory of one device, or of one partition where the card is partitioned. On the CPU: the memory that the engine plans with. Default: on the CPU the memory limit, otherwise the profile's memory or what the engine measures.
     */
    memoryPerDevice?: string;
  };
  /**
   * Settings of the inference engine.
   */
  engine?: {
    /**
     * Image of the runtime, from a repository that the operator allows. Default: the image that the operator is installed with for this runtime and device type.
     */
    image?: string;
  };
  /**
   * Environment variables of the runtime container. Child processes of the server, such as the engine, receive only those that devices, collectives and loaders read (CUDA_, HIP_, HSA_, NCCL_, OMP_, LD_LIBRARY_PATH, …), and no credentials. A variable that stands for a field of this spec (MAX_MODEL_LEN, GPU_MEMORY_UTILIZATION, …; deploy/docs/from-kserve.md lists them) sets a field that is unset or at its default. If it contradicts the field, the manifest is refused.
   *
   * @maxItems 128
   *
   * Items: One environment variable.
   */
  env?: {
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
       * A key of a Secret of the service's namespace. The Secret needs the label llmservice.dev/secret-for=env, or =s3 for variables whose names begin with AWS_.
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
       * A key of a ConfigMap of the service's namespace.
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
  }[];
  /**
   * Requests and limits of the runtime container. Default: computed from the checkpoint. The operator adds the device from accelerator.
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
   *
   * Items: One toleration.
   */
  tolerations?: {
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
  }[];
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
   *
   * Items: One constraint.
   */
  topologySpreadConstraints?: {
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
  }[];
  /**
   * RuntimeClass of the pods.
   */
  runtimeClassName?: string;
  /**
   * ServiceAccount of the pods, one that the operator allows. The pods get no token for it. Default: default.
   */
  serviceAccountName?: string;
  /**
   * Secrets of the service's namespace, of type kubernetes.io/dockerconfigjson, for pulling the runtime image.
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
   * Scales the number of pods by load and by schedule, and to zero when the service is idle, until the next request.
   */
  scaling?: {
    /**
     * Seconds without requests after which the service scales to zero. The next request waits at the operator's activator while a pod loads. Default: the service never scales to zero.
     */
    idleAfterSeconds?: number;
  };
  /**
   * Limit on device use per calendar month. A device counts from when its pod is bound to a node until the pod is gone, whether it serves or loads. Default: no limit.
   */
  budget?: {
    /**
     * Max device hours, summed over devices and pods.
     */
    deviceHoursPerMonth?: number;
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
}
/**
 * What services of the class may ask for, their own values and the defaults alike. Of a list that is absent anything is allowed, of an empty one nothing. In patterns `*` stands for any characters but the separator ('/' of images, URIs and endpoints, '.' of hosts), `**` for any at all.
 */
export interface ClassBounds {
  /**
   * Profiles and extended resources, by their names; none for the CPU. A profile that is not listed is allowed by its resource. Devices that are asked for by a claim are allowed by their profile alone, a device class of the claim's own if it is listed too. Extended resources of spec.resources must be listed, and none of amd.com and nvidia.com may be there.
   *
   * @maxItems 64
   *
   * Items: One profile or resource.
   */
  accelerators?: string[];
  /**
   * Max accelerator.devices.
   */
  maxDevices?: number;
  /**
   * Max parallelism.tensor, which without one is accelerator.devices.
   */
  maxTensor?: number;
  /**
   * Max replicas, scaling.maxReplicas and minReplicas of scaling and its schedules, each with the pods of canary.replicas and disaggregation.prefill.replicas beside them.
   */
  maxReplicas?: number;
  /**
   * Patterns of engine.image. One without tag and digest means the repository, whichever of it is named. The operator's own bounds of images hold too.
   *
   * @maxItems 32
   *
   * Items: One pattern.
   */
  images?: string[];
  /**
   * Patterns of the URIs of the model, its adapters, its draft or head, of administration.allowedUris, and of what requestLog, server.storedResponses and server.batches write, such as s3://models/**. With them, engine.args are refused: vLLM takes other models by these.
   *
   * @maxItems 32
   *
   * Items: One pattern.
   */
  uris?: string[];
  /**
   * Patterns of model.s3.endpoint and model.hub.endpoint, where a service has them. The operator's own bounds of endpoints hold too.
   *
   * @maxItems 32
   *
   * Items: One pattern.
   */
  endpoints?: string[];
  /**
   * Patterns of routing.host. The operator's own bounds of hosts hold too.
   *
   * @maxItems 32
   *
   * Items: One pattern.
   */
  hosts?: string[];
  /**
   * Max budget.deviceHoursPerMonth. Services must then have one, with budget.action stop.
   */
  maxDeviceHoursPerMonth?: number;
}
