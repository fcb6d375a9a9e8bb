// The kinds that only the doctor reads, in addition to those of the operator.

import { resources, type Resource } from '../kube/resources.js';

export const doctorResources = {
  definitions: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
  },
  gatewayClasses: {
    apiVersion: resources.gateways.apiVersion,
    kind: 'GatewayClass',
    plural: 'gatewayclasses',
  },
  istioGateways: {
    apiVersion: resources.virtualServices.apiVersion,
    kind: 'Gateway',
    plural: 'gateways',
  },
  storageClasses: { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', plural: 'storageclasses' },
} as const satisfies Record<string, Resource>;
