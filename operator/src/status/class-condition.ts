// ClassResolved: what a service takes from its class, and whether that is what the class says now. Only of services that name
// one. It gates nothing: what was taken serves on.

import { annotations, classApi } from '@llmservice/crds';
import type { ServiceClass } from '../domain/service-class.js';
import { pathsOf } from '../plan/class/class-values.js';
import { no, yes, type Answer } from './answer.js';

export function classResolved(serviceClass: ServiceClass): Answer | null {
  if (serviceClass.state === 'none') return null;
  const { problem } = serviceClass;
  if (problem !== null) {
    const stays = serviceClass.state === 'taken' && problem.reason !== 'OutOfBounds';
    return no(problem.reason, `${problem.message}.${stays ? ' What was taken of it stays.' : ''}`);
  }
  if (serviceClass.state !== 'taken') return null;
  const { taken, newer } = serviceClass;
  const whose = `${classApi.kind} ${taken.name}`;
  const fields = pathsOf(taken.values);
  const gives = fields.length === 0 ? 'no values that it has not itself' : fields.join(', ');
  if (newer === null)
    return yes('Resolved', `Generation ${String(taken.generation)} of ${whose} gives ${gives}.`);
  return yes(
    'NewerGeneration',
    `Generation ${String(taken.generation)} of ${whose} gives ${gives}. Generation ${String(newer.generation)} has other ` +
      `values of ${newer.fields.join(', ')}, which apply when the spec changes, or at once with another value of the ` +
      `annotation ${annotations.refreshClass}.`,
  );
}
