// Rules between fields of a spec that neither schema nor CEL can state; spec-rules.ts has the others.

import { findAccelerator, type LlmServiceSpec, type Violation } from '@llmservice/crds';
import type { KubeObject } from '../kube/types.js';
import { objectNameViolations } from './object-names.js';
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
  ];
  return [
    ...rows.filter(([, isBroken]) => isBroken).map(([path, , message]) => ({ path, message })),
    ...scalingViolations(spec),
    ...objectNameViolations(spec),
  ];
}

/** Whether a host is read as NAME.NAMESPACE.svc of another service (see the activator's service-of-host.ts). */
function isClusterName(host: string, { name, namespace }: KubeObject['metadata']): boolean {
  const [first, second, third] = host.split('.');
  return third === 'svc' && !(first === name && second === namespace);
}
