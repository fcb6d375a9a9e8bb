// Rules between fields of a spec, as rows of path, whether it is broken, and message. The API server's CEL rules say most
// of the same; these hold where its copy of the CRD is older.

import { misplacedHead } from '@llmservice/checkpoint';
import { findAccelerator, type LlmServiceSpec, type Violation } from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { objectNameViolations } from './object-names.js';
import { runtimeViolations } from './runtime-rules.js';
import { scalingViolations } from './scaling-rules.js';
import { tlsViolations } from './tls-rules.js';

export function crossFieldViolations(spec: LlmServiceSpec, metadata: KubeObject['metadata']): Violation[] {
  const { accelerator, parallelism, auth, engine, routing, scaling } = spec;
  const { devices, resourceName, profile: name = '' } = accelerator;
  const asked = findAccelerator(name)?.resources ?? [resourceName];
  const misplaced = engine.speculative.uri === undefined ? null : misplacedHead(engine.speculative);
  const sleeps = scaling.idleAfterSeconds !== undefined;
  const rows: readonly [path: string, isBroken: boolean, message: string][] = [
    ['spec.engine.speculative.uri', misplaced !== null, misplaced ?? ''],
    [
      'spec.accelerator.resourceName',
      resourceName !== 'none' && !asked.includes(resourceName),
      `is not what ${name} is asked for by: ${asked.join(' or ')}`,
    ],
    [
      'spec.parallelism.tensor',
      (parallelism.tensor ?? devices) !== devices,
      `must equal accelerator.devices (${devices})`,
    ],
    [
      'spec.replicas',
      auth.keysSecretRef !== undefined && spec.replicas > auth.maxReplicas,
      `is more than auth.maxReplicas (${auth.maxReplicas}), among which the budgets of the keys are divided`,
    ],
    [
      'spec.scaling.idleAfterSeconds',
      sleeps && routing.pathPrefix !== undefined,
      'is for services without routing.pathPrefix: the activator tells services by their host',
    ],
    [
      'spec.scaling.idleAfterSeconds',
      sleeps && isClusterName(routing.host ?? '', metadata),
      'is for services whose routing.host does not have svc as its third label: the activator takes it for a ' +
        'name inside the cluster; choose another host',
    ],
  ];
  return [
    ...rows.filter(([, isBroken]) => isBroken).map(([path, , message]) => ({ path, message })),
    ...[...runtimeViolations(spec), ...tlsViolations(spec)],
    ...[...scalingViolations(spec), ...objectNameViolations(spec)],
  ];
}

/** Whether a host is read as NAME.NAMESPACE.svc of another service (see the activator's service-of-host.ts). */
function isClusterName(host: string, { name, namespace }: KubeObject['metadata']): boolean {
  const [first, second, third] = host.split('.');
  return third === 'svc' && !(first === name && second === namespace);
}
