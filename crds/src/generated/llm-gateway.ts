// Generated from crds/llmgateways.llmservice.dev.yaml by `npm run generate`. Do not edit.

/**
 * Many models behind one address. The model of a request's body chooses the LlmService that answers.
 */
export interface LlmGateway {
  apiVersion: 'llmservice.dev/v1alpha1';
  kind: 'LlmGateway';
  metadata: LlmServiceMetadata;
  spec: LlmGatewaySpec;
  status?: LlmGatewayStatus;
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
 * Desired state. Without any field, all models of the namespace at an address inside the cluster.
 */
export interface LlmGatewaySpec {
  /**
   * Models by the names that clients send, each with the LlmService that answers. Default: every name that the services of serviceSelector serve.
   *
   * @minItems 1
   * @maxItems 256
   */
  models?: GatewayModel[];
  /**
   * LlmServices of this namespace whose models are served under their own names, aliases and adapters' names, beside models. Default: all of them without models, none with models.
   */
  serviceSelector?: {
    /**
     * Labels that the services have; an empty map selects all.
     */
    matchLabels: {
      [k: string]: string;
    };
  };
  /**
   * Access from outside the cluster.
   */
  routing: {
    /**
     * Host name of the route at the operator's gateway. Default: no route; the models are reachable only inside the cluster.
     */
    host?: string;
    /**
     * Kind of the route. gatewayApi: an HTTPRoute. istio: a VirtualService and a DestinationRule. none: no route, even if host is set. auto: the first of gatewayApi and istio that the cluster has and the operator has a gateway for.
     */
    provider: 'auto' | 'gatewayApi' | 'istio' | 'none';
  };
  /**
   * API keys, checked by the gateway.
   */
  auth: {
    /**
     * Secret of this namespace with keys.yaml or keys.json, as of LlmServices; it needs the label llmservice.dev/secret-for=keys. Its budgets hold over all models, each router giving its part. Changes take effect without a restart. A service that has keys of its own checks the same header again. Default: no keys.
     */
    keysSecretRef?: {
      /**
       * Name of the Secret.
       */
      name: string;
    };
  };
  /**
   * Number of routers, each of which can serve all requests.
   */
  replicas: number;
  /**
   * Max size of a request's body; a larger one is refused with 413. The upper bound is what a router keeps for one key at once.
   */
  maxBodyBytes: number;
  /**
   * How long answers under way may take when a router is asked to stop.
   */
  drainTimeoutSeconds: number;
  /**
   * Log of ended requests with the tokens of each, by which a router that is started again knows what keys used of the day.
   */
  accounting: {
    /**
     * PersistentVolumeClaim of this namespace to write the log to; it needs access mode ReadWriteMany where routers run on several nodes, also during a rollout. Default: no log.
     */
    persistentVolumeClaimRef?: {
      /**
       * Name of the claim.
       */
      name: string;
    };
  };
  /**
   * Labels that a node must have that a router runs on.
   */
  nodeSelector?: {
    /**
     * Value of the label.
     */
    [k: string]: string;
  };
  /**
   * Scheduling affinity of the routers, as in a pod spec. The API server checks its inner fields when the operator applies the Deployment.
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
   * Node taints that the routers tolerate.
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
   * PriorityClass of the routers.
   */
  priorityClassName?: string;
  /**
   * Secrets of this namespace, of type kubernetes.io/dockerconfigjson, for pulling the operator's image, which routers run.
   *
   * @maxItems 16
   *
   * Items: One Secret.
   */
  imagePullSecrets?: {
    /**
     * Name of the Secret.
     */
    name: string;
  }[];
  /**
   * NetworkPolicy of the routers. It admits only the peers in from. It requires a network plugin that enforces NetworkPolicies. Default: none; everything in the cluster can reach the routers.
   */
  networkPolicy?: {
    /**
     * Peers that may send requests, and scrape metrics: the pods of the gateway, clients inside the cluster. As in the ingress rules of a NetworkPolicy; the API server checks inner fields when the operator applies it.
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
 * One model.
 */
export interface GatewayModel {
  /**
   * Name that clients send. The service need not know it: it answers for its own model, or, where it has an adapter of this name, for that.
   */
  name: string;
  /**
   * LlmService of this namespace that answers.
   */
  service: string;
  /**
   * Further names that clients may send for it.
   *
   * @maxItems 16
   *
   * Items: One further name.
   */
  aliases?: string[];
  /**
   * Models of this gateway that answer instead, in this order, where no pod of the service can be reached or it answers 503 before the first byte. Such answers have the header x-llmservice-fallback.
   *
   * @maxItems 8
   *
   * Items: Name of one model.
   */
  fallback?: string[];
  /**
   * Ids or cacheGroups of keys that may see and use the model, and its service by the names that serviceSelector serves. Default: all keys.
   *
   * @minItems 1
   * @maxItems 64
   *
   * Items: One id or cacheGroup.
   */
  visibleTo?: string[];
}
/**
 * Observed state.
 */
export interface LlmGatewayStatus {
  /**
   * Generation of the spec that this status reflects.
   */
  observedGeneration?: number;
  /**
   * Public URL; absent without a route.
   */
  url?: string;
  /**
   * URL inside the cluster.
   */
  address?: string;
  /**
   * Routers that take requests.
   */
  readyReplicas?: number;
  /**
   * Number of models.
   */
  modelCount?: number;
  /**
   * The first 256 models, with the service that answers for each.
   *
   * @maxItems 256
   */
  models?: GatewayModelStatus[];
  /**
   * Condition types: Accepted (the spec can be served), ResolvedRefs (the services and models that it names are there), Programmed (all objects are applied and the route is taken), Ready (a router takes requests for a model at least).
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: {
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
  }[];
}
/**
 * One model.
 */
export interface GatewayModelStatus {
  /**
   * Name that clients send.
   */
  name: string;
  /**
   * LlmService that answers.
   */
  service: string;
  /**
   * Ready: a pod answers. Asleep: a request wakes the service. NotReady: no pod answers. Unresolved: the model is not routed, as the condition ResolvedRefs says.
   */
  state: 'Ready' | 'Asleep' | 'NotReady' | 'Unresolved';
}
