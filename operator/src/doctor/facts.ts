// All that the checks read. Fields of Kubernetes objects are those that a check reads.

import type { ResourceSlice } from '../kube/resource-slices.js';
import type { Deployment, KubeObject, Node, ObjectCondition } from '../kube/types.js';
import type { Requests } from '../plan/fit/pod-requests.js';
import type { Gateway } from '../plan/traffic/routing.js';
import type { PreflightResult } from '../domain/checkpoint.js';
import type { DeniedRequest } from './operator-rules.js';
import type { Reading } from './reading.js';
import type { ReferencedObject } from './references.js';

export interface CustomResourceDefinition extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
      readonly schema?: { readonly openAPIV3Schema?: object };
    }[];
    readonly conversion?: {
      readonly strategy?: string;
      readonly webhook?: { readonly clientConfig?: { readonly caBundle?: string } };
    };
  };
  readonly status?: { readonly conditions?: readonly ObjectCondition[] };
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
  };
}

/** A Gateway or a GatewayClass, of the Gateway API. */
export interface GatewayObject extends KubeObject {
  readonly spec?: { readonly gatewayClassName?: string };
  readonly status?: { readonly conditions?: readonly ObjectCondition[] };
}

/** The settings of an installed operator, as its Deployment says. */
export interface OperatorSettings {
  /** Null: every namespace. */
  readonly watchNamespaces: readonly string[] | null;
  readonly gateway: Gateway | null;
  readonly istioGateway: Gateway | null;
  /** Null: its services get no InferencePools. */
  readonly endpointPickerImage: string | null;
  readonly serviceAccount: string;
  readonly leaseName: string;
}

export interface OperatorFacts {
  readonly deployment: Deployment;
  readonly settings: OperatorSettings;
  readonly lease: Reading<Lease | null>;
  /** Names of its pods, one of which holds the Lease. */
  readonly pods: Reading<readonly string[]>;
  /** What it needs and may not. */
  readonly denied: Reading<readonly DeniedRequest[]>;
  readonly gateway: Reading<GatewayObject | null> | null;
  readonly gatewayClass: Reading<GatewayObject | null> | null;
  readonly istioGateway: Reading<KubeObject | null> | null;
}

export interface ServiceFacts {
  readonly object: KubeObject;
  /** What it names, each as it was found. */
  readonly references: readonly (readonly [ReferencedObject, Reading<StoredObject | null>])[];
  /** By reads from this machine; null: its spec is not valid. */
  readonly checkpoint: Reading<PreflightResult> | null;
}

/** The names of its keys alone; a claim has none. */
export interface StoredObject {
  readonly keys: readonly string[];
}

export interface ClusterFacts {
  readonly server: string;
  /** Such as v1.34.3. */
  readonly version: string;
  /** By the API server's clock. */
  readonly now: Date;
  /** Of the API, by name. */
  readonly groups: Reading<readonly string[]>;
  /** Version of our group that the API serves. */
  readonly servesOurs: Reading<boolean>;
  readonly definition: Reading<CustomResourceDefinition | null>;
  readonly operators: Reading<readonly OperatorFacts[]>;
  /** Deployments that take requests of services that are asleep. */
  readonly activators: Reading<readonly Deployment[]>;
  /** What the person asking may not. */
  readonly deniedToPerson: Reading<readonly DeniedRequest[]>;
  readonly nodes: Reading<readonly Node[]>;
  /** Devices for claims; null: the cluster does not know the kind. */
  readonly resourceSlices: Reading<readonly ResourceSlice[] | null>;
  readonly requested: Reading<ReadonlyMap<string, Requests>>;
  readonly gatewayClasses: Reading<readonly GatewayObject[]>;
  readonly storageClasses: Reading<readonly KubeObject[]>;
  readonly namespace: string;
  /** The one that is asked about; null: all of the namespace. */
  readonly service: string | null;
  readonly services: Reading<readonly ServiceFacts[]>;
  /** Of the cluster; null: it does not know the kind. */
  readonly serviceClasses: Reading<readonly KubeObject[] | null>;
  /** LlmGateways of the namespace; null: the cluster does not know the kind. */
  readonly modelGateways: Reading<readonly KubeObject[] | null>;
}
