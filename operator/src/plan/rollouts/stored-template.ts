// Whether a pod template that was read back may be one of ours: whoever may write in the namespace may have put it there.
// It is held against its own hashes, and against what no template of ours has.

import { annotations, labels } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { contentHash } from '../../domain/content-hash.js';
import { keepsToOwnFolder, type NodeRules } from '../pods/node-cache-volume.js';

/** Several times what templates have, node affinities included. */
const maxLevels = 32;
/** Of a pod: each would have it see more of its node than any of ours does. */
const hostFields = ['hostNetwork', 'hostPID', 'hostIPC', 'nodeName', 'ephemeralContainers'];
const ourVolumes = new Set(['configMap', 'emptyDir', 'secret', 'persistentVolumeClaim', 'hostPath', 'image']);

type Fields = Readonly<Record<string, unknown>>;

export interface StoredTemplate {
  readonly metadata: Fields;
  readonly spec: Fields;
}

/** @param configHash of the config that is stored with it. @returns null where it cannot be one of ours */
export function readStoredTemplate(
  value: unknown,
  configHash: string,
  service: Pick<WantedService, 'name' | 'namespace'>,
  rules: NodeRules,
): StoredTemplate | null {
  if (!isShallow(value, maxLevels) || !isFields(value)) return null;
  const { metadata, spec } = value;
  if (!isFields(metadata) || !isFields(spec)) return null;
  const { [annotations.revision]: revision, ...notes } = fieldsOf(metadata['annotations']);
  if (revision !== contentHash({ metadata: { ...metadata, annotations: notes }, spec })) return null;
  if (notes[annotations.configHash] !== configHash) return null;
  if (fieldsOf(metadata['labels'])[labels.service] !== service.name) return null;
  return isOurs(spec) && keepsToOwnFolder(spec, service, rules) ? { metadata, spec } : null;
}

function isOurs(spec: Fields): boolean {
  const containers = [...listOf(spec['containers']), ...listOf(spec['initContainers'])];
  return (
    spec['automountServiceAccountToken'] === false &&
    hostFields.every((field) => spec[field] === undefined) &&
    containers.every((container) => fieldsOf(container['securityContext'])['privileged'] !== true) &&
    listOf(spec['volumes']).every((volume) =>
      Object.keys(volume).every((field) => field === 'name' || ourVolumes.has(field)),
    )
  );
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((field) => isShallow(field, levels - 1));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
