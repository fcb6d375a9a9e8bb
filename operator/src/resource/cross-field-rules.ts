// Rules between fields of a spec that neither schema nor CEL can state; spec-rules.ts has the others.

import { findAccelerator, type LlmServiceSpec, type Violation } from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { disaggregationViolations } from './disaggregation-rules.js';
import { objectNameViolations } from './object-names.js';
import { parseCheckpointUri } from './checkpoint-uri.js';
import { scalingViolations } from './scaling-rules.js';

export function crossFieldViolations(spec: LlmServiceSpec, metadata: KubeObject['metadata']): Violation[] {
  const { accelerator, routing, scaling } = spec;
  const { resourceName, profile: name = '' } = accelerator;
  const asked = findAccelerator(name)?.resources ?? [resourceName];
  const rows: readonly [path: string, isBroken: boolean, message: string][] = [
    [
      'spec.accelerator.resourceName',
      resourceName !== 'none' && !asked.includes(resourceName),
      `is not what ${name} is asked for by: ${asked.join(' or ')}`,
    ],
    [
      'spec.scaling.idleAfterSeconds',
      scaling.idleAfterSeconds !== undefined && isClusterName(routing.host ?? '', metadata),
      'is for services whose routing.host does not have svc as its third label: the activator takes it for a ' +
        'name inside the cluster; choose another host',
    ],
    [
      'spec.resources.limits',
      spec.parallelism.nodes > 1 &&
        spec.resources?.limits?.['memory'] === undefined &&
        accelerator.memoryPerDevice === undefined,
      'must have memory, of each pod, with parallelism.nodes above 1: all pods plan the same KV cache with it, where the ' +
        'free memory of their nodes differs; set resources.limits.memory',
    ],
  ];
  return [
    ...twiceAsked(spec),
    ...rows.filter(([, isBroken]) => isBroken).map(([path, , message]) => ({ path, message })),
    ...scalingViolations(spec),
    ...disaggregationViolations(spec),
    ...objectNameViolations(spec),
    ...claimViolations(spec),
    ...bucketViolations(spec),
  ];
}

/** By a claim, and by the extended resource that stands for the same devices. */
function twiceAsked({ accelerator, resources, disaggregation }: LlmServiceSpec): Violation[] {
  const { claim, profile = '' } = accelerator;
  if (claim === undefined) return [];
  const extended = findAccelerator(profile)?.resources ?? [];
  const places = [
    ['spec.resources', resources],
    ['spec.disaggregation.prefill.resources', disaggregation?.prefill.resources],
  ] as const;
  return places.flatMap(([path, amounts]) =>
    (['limits', 'requests'] as const).flatMap((side) => {
      const twice = extended.find((resource) => amounts?.[side]?.[resource] !== undefined);
      if (twice === undefined) return [];
      const message = `asks for ${twice} beside spec.accelerator.claim, which asks for the devices: remove it`;
      return [{ path: `${path}.${side}`, message }];
    }),
  );
}

/** Pods mount the claim of the model: no other, and none beside a model that the operator is to plan with drafts and adapters. */
function claimViolations({ model, engine, adapters = [] }: LlmServiceSpec): Violation[] {
  const own = claimOf(model.uri);
  const beside = [
    ['spec.engine.speculative.uri', engine.speculative.uri ?? ''],
    ...adapters.map(({ uri }, at) => [`spec.adapters[${String(at)}].uri`, uri]),
  ] as const;
  return beside.flatMap(([path, uri = '']) => {
    const claim = claimOf(uri);
    if (claim === null || claim === own) return [];
    const expected =
      own === null
        ? `is on a claim, and spec.model.uri is not: put both on the claim ${claim}, or this one where spec.model.uri lies`
        : `is on another claim than spec.model.uri: put it on the claim ${own}, whose volume alone pods mount`;
    return [{ path, message: expected }];
  });
}

/** One endpoint and one pair of keys are given for both. */
function bucketViolations({ model, engine, adapters = [], server, requestLog }: LlmServiceSpec): Violation[] {
  const uris = [
    ['spec.model.uri', model.uri],
    ['spec.engine.speculative.uri', engine.speculative.uri ?? ''],
    ...adapters.map(({ uri }, at) => [`spec.adapters[${String(at)}].uri`, uri] as const),
    ['spec.requestLog.uri', requestLog?.uri ?? ''],
    ['spec.server.storedResponses.uri', server?.storedResponses?.uri ?? ''],
    ['spec.server.batches.uri', server?.batches?.uri ?? ''],
  ] as const;
  const google = uris.find(([, uri = '']) => uri.startsWith('gs://'));
  if (google === undefined) return [];
  const message = `is in S3, and ${google[0]} in Google Cloud Storage, while spec.model.s3 is for one of them: put both into one`;
  return uris.filter(([, uri = '']) => uri.startsWith('s3://')).map(([path = '']) => ({ path, message }));
}

function claimOf(uri: string): string | null {
  const location = parseCheckpointUri(uri);
  return location !== null && 'claim' in location ? location.claim : null;
}

/** Whether a host is read as NAME.NAMESPACE.svc of another service (see the activator's service-of-host.ts). */
function isClusterName(host: string, { name, namespace }: KubeObject['metadata']): boolean {
  const [first, second, third] = host.split('.');
  return third === 'svc' && !(first === name && second === namespace);
}
