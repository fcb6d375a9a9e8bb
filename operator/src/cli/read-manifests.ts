// Manifests as people and tools write them: files, folders and standard input, of several documents each, as `helm
// template` and `helmfile template` print them. LlmServices, LlmGateways and LlmServiceClasses are separated from
// everything else.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  alphaNamesIn,
  api,
  classApi,
  convertService,
  gatewayApi,
  validateLlmServiceClass,
} from '@llmservice/crds';
import { parseAllDocuments } from 'yaml';
import { keyOf } from '../kube/resources.js';
import type { KubeObject } from '../kube/types.js';

export interface Manifest {
  /** Where it stands: FILE, and which of its documents. */
  readonly source: string;
  readonly object: KubeObject;
  /** It was of v1beta1: what is said of it has the names of that. */
  readonly inBeta?: true;
}

export interface Manifests {
  readonly services: readonly Manifest[];
  readonly gateways: readonly Manifest[];
  readonly classes: readonly Manifest[];
  readonly others: readonly Manifest[];
  readonly problems: readonly string[];
}

const suffix = /\.(ya?ml|json)$/;

/** @param stdin read where a source is `-` */
export async function readManifests(
  sources: readonly string[],
  stdin: NodeJS.ReadableStream,
  namespace: string,
): Promise<Manifests> {
  const problems: string[] = [];
  const found: Manifest[] = [];
  for (const source of sources) {
    try {
      const files = source === '-' ? ['-'] : await filesOf(source);
      if (files.length === 0) problems.push(`${source}: there is no .yaml, .yml or .json file in it`);
      for (const file of files) {
        const content = file === '-' ? await text(stdin) : await readFile(file, 'utf8');
        found.push(...documentsOf(file === '-' ? 'standard input' : file, content, problems));
      }
    } catch (error) {
      problems.push(`${source}: ${(error as Error).message}`);
    }
  }
  const ours = (kind: string): Manifest[] =>
    found.filter(isOurs(kind)).flatMap((manifest) => named(manifest, namespace, problems));
  const services = ours(api.kind).flatMap((manifest) => inStoredVersion(manifest, problems));
  const gateways = ours(gatewayApi.kind);
  const classes = found.filter(isOurs(classApi.kind)).filter((manifest) => isValidClass(manifest, problems));
  checkDistinct(services, problems);
  checkDistinct(gateways, problems);
  if (services.length + gateways.length + classes.length === 0 && problems.length === 0)
    problems.push(`there is no ${api.kind} in them`);
  const kinds = [isOurs(api.kind), isOurs(gatewayApi.kind), isOurs(classApi.kind)];
  const others = found.filter((manifest) => !kinds.some((isOfKind) => isOfKind(manifest)));
  return { services, gateways, classes, others, problems };
}

/** A folder's with those of its folders, in order. */
async function filesOf(place: string): Promise<string[]> {
  if (!(await stat(place)).isDirectory()) return [place];
  const names = await readdir(place, { recursive: true });
  return names
    .filter((name) => suffix.test(name))
    .sort()
    .map((name) => join(place, name));
}

function documentsOf(file: string, content: string, problems: string[]): Manifest[] {
  const documents = parseAllDocuments(content, { merge: true });
  return [...documents].flatMap((document, index) => {
    const source = `${file}, document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined) {
      problems.push(`${source}: ${error.message.trimEnd()}`);
      return [];
    }
    try {
      return objectsIn(document.toJS(), source, problems);
    } catch (cause) {
      problems.push(`${source}: ${(cause as Error).message}`);
      return [];
    }
  });
}

/** Empty documents are none; a List is its items. */
function objectsIn(value: unknown, source: string, problems: string[]): Manifest[] {
  if (value === null || value === undefined) return [];
  if (!isRecord(value) || typeof value['kind'] !== 'string' || typeof value['apiVersion'] !== 'string') {
    problems.push(`${source}: it is no Kubernetes object: apiVersion and kind are required`);
    return [];
  }
  const items = value['items'];
  if (value['kind'].endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item, index) => objectsIn(item, `${source}, items[${index}]`, problems));
  }
  return [{ source, object: value as unknown as KubeObject }];
}

const isOurs =
  (kind: string) =>
  ({ object }: Manifest): boolean =>
    object.kind === kind && object.apiVersion.startsWith(`${api.group}/`);

function named({ source, object }: Manifest, fallback: string, problems: string[]): Manifest[] {
  const metadata: unknown = object.metadata;
  const { name, namespace = fallback } = isRecord(metadata) ? metadata : {};
  if (typeof name !== 'string' || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) {
    problems.push(`${source}: metadata.name is required, in lower-case letters, digits, '-' and '.'`);
    return [];
  }
  if (typeof namespace !== 'string') {
    problems.push(`${source}: metadata.namespace must be a string`);
    return [];
  }
  return [{ source, object: { ...object, metadata: { ...object.metadata, name, namespace } } }];
}

/** A service of v1beta1 in the version that the operator works with; those that have neither's names are problems. */
function inStoredVersion(manifest: Manifest, problems: string[]): Manifest[] {
  const { source, object } = manifest;
  if (object.apiVersion !== `${api.group}/${api.betaVersion}`) return [manifest];
  const wrong = alphaNamesIn(object);
  problems.push(...wrong.map(({ path, message }) => `${source}: ${path} ${message}`));
  return wrong.length > 0 ? [] : [{ source, object: convertService(object, api.version), inBeta: true }];
}

function isValidClass({ source, object }: Manifest, problems: string[]): boolean {
  const checked = validateLlmServiceClass(object);
  if (checked.ok) return true;
  problems.push(...checked.violations.map(({ path, message }) => `${source}: ${path} ${message}`));
  return false;
}

function checkDistinct(services: readonly Manifest[], problems: string[]): void {
  const seen = new Map<string, string>();
  for (const { source, object } of services) {
    const key = keyOf(object);
    const before = seen.get(key);
    if (before !== undefined) problems.push(`${source}: ${key} is in ${before} already`);
    seen.set(key, source);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
