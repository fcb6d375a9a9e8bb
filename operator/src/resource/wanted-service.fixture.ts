// A parsed service for tests, with any field of the spec replaced, and an object that is not parsed yet.

import { api } from '@llmservice/crds';
import { parseSpec } from './parse-spec.js';
import type { WantedService } from '../domain/wanted-service.js';

export function wantedService(spec: object = {}, annotations: Record<string, string> = {}): WantedService {
  const parsed = parseSpec({
    apiVersion: api.groupVersion,
    kind: api.kind,
    metadata: { name: 'demo', namespace: 'ns', uid: 'uid-1', generation: 3, annotations },
    spec: { model: { uri: 's3://bucket/folder/' }, ...spec },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  return parsed.service;
}

export const object = (spec: unknown) => ({
  apiVersion: 'llmservice.dev/v1alpha1',
  kind: 'LlmService',
  metadata: { name: 'demo', namespace: 'ns' },
  spec,
});
