// What the objects of a service's prefill pods are called, beside those of the service.

import { resources } from './resources.js';

export const prefillResources = [
  resources.deployments,
  resources.services,
  resources.disruptionBudgets,
  resources.networkPolicies,
];

export function prefillName(service: string): string {
  return `${service}-prefill`;
}
