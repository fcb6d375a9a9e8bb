// Fields of a spec whose text says more than a schema can check: where each is, how it is read, and what is reported of
// one that cannot be read.

import { findAccelerator, profilesLike, type LlmServiceSpec, type Violation } from '@llmservice/crds';
import type { Accelerator } from '../domain/wanted-service.js';
import { parseBucketFolderUri, parseCheckpointUri, parseFolderUri } from './checkpoint-uri.js';
import { isHttpUrl } from './http-url.js';
import { isAmount, notAnAmount, parseQuantity } from './quantity.js';

interface FieldRule<T> {
  readonly path: string;
  /** Undefined: it is not set. */
  readonly text: (spec: LlmServiceSpec) => string | number | undefined;
  /** Null: it cannot be read. */
  readonly read: (text: string) => T | null;
  readonly message: (text: string) => string;
}

const folder = 's3://BUCKET/PREFIX/, a folder';
const others =
  'gs://BUCKET/PREFIX/, hf://OWNER/NAME@REVISION, oci://REGISTRY/REPOSITORY:TAG, pvc://CLAIM/FOLDER or ' +
  'https://HOST/PATH/LIST.json@sha256:DIGEST (over http:// with its digest alone)';
const place = `s3://BUCKET/PREFIX/, s3://BUCKET/PREFIX/NAME.gguf, ${others}`;
const headFolder = `must be ${folder} with safetensors, ${others}`;
const noHttpUrl = 'must be a URL that begins with http:// or https://';
const noResource = 'must be none, or a resource of amd.com or nvidia.com';
const noProfile = (name: string): string =>
  `is no profile of deploy/docs/accelerators.md; there are ${profilesLike(name).join(', ')}`;

const rules = {
  checkpoint: rule('spec.model.uri', ({ model }) => model.uri, parseCheckpointUri, `must be ${place}`),
  requestLog: rule(
    'spec.requestLog.uri',
    (spec) => spec.requestLog?.uri,
    parseBucketFolderUri,
    `must be ${folder}`,
  ),
  storedResponses: rule(
    'spec.server.storedResponses.uri',
    (spec) => spec.server?.storedResponses?.uri,
    parseBucketFolderUri,
    `must be ${folder}`,
  ),
  batches: rule(
    'spec.server.batches.uri',
    (spec) => spec.server?.batches?.uri,
    parseBucketFolderUri,
    `must be ${folder}`,
  ),
  head: rule(
    'spec.engine.speculative.uri',
    (spec) => spec.engine.speculative.uri,
    parseFolderUri,
    headFolder,
  ),
  endpoint: rule('spec.model.s3.endpoint', ({ model }) => model.s3.endpoint, httpUrl, noHttpUrl),
  hubEndpoint: rule('spec.model.hub.endpoint', ({ model }) => model.hub.endpoint, httpUrl, noHttpUrl),
  profile: rule('spec.accelerator.profile', (spec) => spec.accelerator.profile, findAccelerator, noProfile),
  kind: rule(
    'spec.accelerator.resourceName',
    (spec) => resourceNameOf(spec.accelerator),
    acceleratorKind,
    noResource,
  ),
  sharedMemory: bytes('spec.sharedMemory.sizeLimit', (spec) => spec.sharedMemory.sizeLimit),
  memoryPerDevice: bytes('spec.accelerator.memoryPerDevice', (spec) => spec.accelerator.memoryPerDevice),
  memoryLimit: bytes('spec.resources.limits.memory', (spec) => spec.resources?.limits?.['memory']),
};

/** Null: it is not set, or it cannot be read. */
export type Fields = {
  readonly [K in keyof typeof rules]: (typeof rules)[K] extends FieldRule<infer T> ? T | null : never;
};

/** @param violations gets one of each field that cannot be read */
export function readFields(spec: LlmServiceSpec, violations: Violation[]): Fields {
  const valueOf = ({ path, text, read, message }: FieldRule<unknown>): unknown => {
    const found = text(spec);
    if (found === undefined) return null;
    const value = read(String(found));
    if (value === null) violations.push({ path, message: message(String(found)) });
    return value;
  };
  return Object.fromEntries(Object.entries(rules).map(([name, each]) => [name, valueOf(each)])) as Fields;
}

/** The extended resource by which devices are asked for, of a profile where the spec names none itself. */
export function resourceNameOf({ resourceName, profile }: LlmServiceSpec['accelerator']): string {
  if (resourceName !== 'none' || profile === undefined) return resourceName;
  return findAccelerator(profile)?.resources[0] ?? 'none';
}

function rule<T>(
  path: string,
  text: FieldRule<T>['text'],
  read: FieldRule<T>['read'],
  message: string | FieldRule<T>['message'],
): FieldRule<T> {
  return { path, text, read, message: typeof message === 'string' ? () => message : message };
}

/** Whole bytes: a status with a part of one would be refused. */
function bytes(path: string, text: FieldRule<number>['text']): FieldRule<number> {
  const read = (quantity: string): number | null => {
    const value = parseQuantity(quantity);
    return isAmount(value) ? Math.ceil(value) : null;
  };
  return rule(path, text, read, notAnAmount);
}

function httpUrl(text: string): string | null {
  return isHttpUrl(text) ? text : null;
}

function acceleratorKind(resourceName: string): Accelerator['kind'] | null {
  if (resourceName === 'none') return 'cpu';
  if (resourceName.startsWith('amd.com/')) return 'hip';
  return resourceName.startsWith('nvidia.com/') ? 'cuda' : null;
}
