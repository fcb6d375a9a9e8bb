// Services whose weights lie in a cache that pods share, and what their pods are planned with.

import { wantedService } from '../resource/wanted-service.fixture.js';
import type { TemplateInputs } from './pods/planned-template.js';

export const inputs: TemplateInputs = {
  image: 'runtime:1',
  pullImage: null,
  operatorImage: 'operator:1',
  size: { fileBytes: 29e9, weightBytes: 29e9 },
  memoryPlan: null,
  pins: { model: '0123456789abcdef', head: null },
};
export const withCache = (cache: object) => wantedService({ model: { uri: 's3://bucket/folder/', cache } });
export const hostPath = { kind: 'hostPath', path: '/var/cache/models', maxSize: '200Gi' };
export const pvc = { kind: 'pvc', claimName: 'weights', verify: 'always' };
