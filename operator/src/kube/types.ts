// The few fields of Kubernetes objects that the operator reads, as they are on the wire (dates are strings).
// Objects that it writes are plain JSON: a typed serializer would drop fields that it does not know.

import type { FieldOwner } from '@llmservice/crds';

interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly managedFields?: readonly FieldOwner[] | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly {
    readonly kind?: string;
    readonly name?: string;
    readonly uid?: string;
    readonly controller?: boolean;
  }[];
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** A condition as built-in types have it. */
export interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
}

export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly template?: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
    readonly strategy?: {
      readonly rollingUpdate?: {
        readonly maxSurge?: number | string;
        readonly maxUnavailable?: number | string;
      };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly conditions?: readonly ObjectCondition[];
  };
}

export interface TerminatedState {
  readonly reason?: string;
  readonly exitCode: number;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: TerminatedState;
  };
  readonly lastState?: { readonly terminated?: TerminatedState };
}

type Amounts = Readonly<Record<string, string | number>>;

interface Container {
  readonly name: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort?: number }[];
  readonly resources?: { readonly requests?: Amounts };
  /** Of an init container: Always makes it run alongside the others. */
  readonly restartPolicy?: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface PodSpec {
  readonly nodeName?: string;
  /** What has to be removed before the scheduler places it. */
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly resourceClaims?: readonly { readonly name: string; readonly resourceClaimTemplateName?: string }[];
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: Amounts;
  readonly tolerations?: readonly Toleration[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
      };
    };
  };
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface Node extends KubeObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
    readonly podCIDR?: string;
    readonly podCIDRs?: readonly string[];
  };
  readonly status?: {
    readonly capacity?: Amounts;
    readonly allocatable?: Amounts;
    readonly addresses?: readonly { readonly address: string }[];
  };
}

export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly conditions?: readonly ObjectCondition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface Job extends KubeObject {
  readonly status?: { readonly conditions?: readonly ObjectCondition[] };
}

/** A HorizontalPodAutoscaler or a ScaledObject: of either only what it says of itself is read. */
export interface Autoscaler extends KubeObject {
  readonly status?: { readonly conditions?: readonly ObjectCondition[] };
}

export interface HttpRoute extends KubeObject {
  readonly status?: {
    readonly parents?: readonly {
      readonly parentRef: { readonly name: string; readonly namespace?: string };
      readonly controllerName: string;
      readonly conditions?: readonly ObjectCondition[];
    }[];
  };
}

export interface BackendTlsPolicy extends KubeObject {
  readonly status?: {
    readonly ancestors?: readonly {
      readonly ancestorRef: { readonly name: string; readonly namespace?: string };
      readonly conditions?: readonly ObjectCondition[];
    }[];
  };
}

export interface VirtualService extends KubeObject {
  readonly status?: {
    readonly validationMessages?: readonly {
      readonly level?: string;
      readonly type?: { readonly name?: string; readonly code?: string };
      readonly documentationUrl?: string;
    }[];
  };
}
