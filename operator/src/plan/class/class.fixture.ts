// Services and classes that tests resolve.

import type { LlmServiceStatus } from '@llmservice/crds';
import type { KubeObject } from '../../kube/types.js';
import { knownClasses } from './known-classes.js';
import { resolveClass, type ResolvedSpec } from './resolve-class.js';

export const gpu = (spec: object, generation = 1): KubeObject => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmServiceClass',
  metadata: { name: 'gpu', generation },
  spec,
});
export const known = (...classes: KubeObject[]) => knownClasses(classes);
export const service = (
  spec: object = {},
  status: LlmServiceStatus = {},
  annotations: Record<string, string> = {},
): KubeObject => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: { name: 'demo', namespace: 'team', uid: 'u', generation: 1, annotations },
  spec: { model: { uri: 's3://models/m/' }, className: 'gpu', ...spec },
  status,
});

export function taken(resolved: ResolvedSpec) {
  if (!resolved.ok || resolved.service.serviceClass.state !== 'taken')
    throw new Error(JSON.stringify(resolved));
  return { ...resolved.service.serviceClass, spec: resolved.service.spec, service: resolved.service };
}
export function refused(resolved: ResolvedSpec): string[] {
  if (resolved.ok) throw new Error('it is not refused');
  return resolved.violations.map(({ path, message }) => `${path} ${message}`);
}
/** With what the first look took, as its status then has it. */
export const after = (
  spec: object,
  first: ReturnType<typeof known>,
  change: object = {},
  notes: Record<string, string> = {},
) => service({ ...spec, ...change }, { class: taken(resolveClass(service(spec), first)).taken }, notes);
