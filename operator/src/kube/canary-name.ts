// What the objects of a canary are called, beside those of its service.

import { resources } from './resources.js';

/** What a revision that is tried beside the stable one has objects of. */
export const canaryResources = [resources.deployments, resources.services, resources.destinationRules];

export function canaryName(service: string): string {
  return `${service}-canary`;
}
