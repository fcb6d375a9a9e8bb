// A service as its owner wants it: the spec read once, complete and typed (resource/parse-spec.ts reads it).

import type { AdapterRoom, ClaimPlace } from '@llmservice/checkpoint';
import type { HubPlace } from '@llmservice/checkpoint/hub';
import type { ListPlace } from '@llmservice/checkpoint/list';
import type { OciPlace } from '@llmservice/checkpoint/oci';
import type { LlmServiceSpec } from '@llmservice/crds';
import type { ServiceClass } from './service-class.js';

export interface BucketLocation {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** The GGUF file below it that is meant; null for the folder. */
  readonly file: string | null;
  /** Of Google Cloud Storage, and not of S3. */
  readonly google?: true;
}

/** In S3, in a hub of models, in a registry, in a list of files, or on a claim, which pods alone can read. */
export type CheckpointLocation = BucketLocation | HubPlace | OciPlace | ListPlace | ClaimPlace;

/** A LoRA adapter that is served beside the model. */
export interface WantedAdapter {
  readonly name: string;
  readonly uri: string;
  readonly location: CheckpointLocation;
}

type Folder =
  { readonly kind: 'hostPath'; readonly path: string } | { readonly kind: 'pvc'; readonly claimName: string };

/** Where pulled weights are kept for several pods. */
export type NodeCache = Folder & {
  /** Null: as much as the disk has. */
  readonly maxBytes: number | null;
  readonly verify: 'onPull' | 'always';
  readonly prePull: boolean;
};

/** What a driver says of the devices that are meant. */
export interface DeviceMatch {
  readonly driver: string;
  /** As labels of nodes name the card; `*` stands for any text. */
  readonly product: string;
  /** Of the driver's own, by name. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** A ResourceClaim, by which devices are asked for in place of an extended resource. */
export type DeviceClaim =
  | { readonly state: 'named'; readonly templateName: string }
  | {
      readonly state: 'planned';
      readonly deviceClass: string;
      /** CEL over `device`; all must hold. */
      readonly selectors: readonly string[];
      /** What they select; null: they are the spec's own, which the scheduler alone judges. */
      readonly match: DeviceMatch | null;
    };

export interface Accelerator {
  readonly kind: 'cpu' | 'cuda' | 'hip';
  /** Extended resource; null on the CPU, and where devices are asked for by a claim. */
  readonly resourceName: string | null;
  /** Null: none is asked for. */
  readonly claim: DeviceClaim | null;
  readonly devices: number;
  /** Null where nobody said: the engine measures it on the device. */
  readonly memoryBytesPerDevice: number | null;
  /** What its profile gives the pods. */
  readonly env: Readonly<Record<string, string>>;
}

export interface WantedService {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** With the values of its class. */
  readonly spec: LlmServiceSpec;
  readonly serviceClass: ServiceClass;
  /** The name that clients send. */
  readonly modelName: string;
  readonly checkpoint: CheckpointLocation;
  /** Where the layer for multi-token prediction comes from if the checkpoint has none; null: nowhere. */
  readonly head: CheckpointLocation | null;
  /** In the order of the spec. */
  readonly adapters: readonly WantedAdapter[];
  readonly adapterRoom: AdapterRoom;
  /** Null: each pod pulls its own copy. */
  readonly cache: NodeCache | null;
  readonly accelerator: Accelerator;
  /** Ranks of a stage. */
  readonly tensor: number;
  /** Stages, which divide the layers. */
  readonly pipeline: number;
  /** Pods of one replica, which share its ranks equally. */
  readonly nodes: number;
  /** Ranks of one pod, with a device each. */
  readonly podRanks: number;
  readonly sharedMemoryBytes: number;
  /** Value of the retry annotation; empty when absent. */
  readonly retry: string;
  /** Value of the annotation that ends a canary's steps; empty when absent. */
  readonly promote: string;
  /** Value of the activators' annotation; empty when absent. */
  readonly lastRequest: string;
}
