// The LoRA adapters that a spec names, and where each lies.

import type { LlmServiceSpec, Violation } from '@llmservice/crds';
import type { WantedAdapter } from '../domain/wanted-service.js';
import { parseFolderUri } from './checkpoint-uri.js';

/** @param violations gets one of each adapter that cannot be read, and of each name that is there again */
export function parseAdapters(
  adapters: NonNullable<LlmServiceSpec['adapters']>,
  violations: Violation[],
): WantedAdapter[] {
  const names = adapters.map(({ name }) => name);
  return adapters.flatMap(({ name, uri }, at) => {
    const path = `spec.adapters[${String(at)}]`;
    // The API server refuses it by the list's map key.
    if (names.indexOf(name) < at) {
      violations.push({
        path: `${path}.name`,
        message: `repeats ${name}; give each adapter a name of its own`,
      });
    }
    const location = parseFolderUri(uri);
    if (location !== null) return [{ name, uri, location }];
    violations.push({
      path: `${path}.uri`,
      message:
        'must be s3://BUCKET/PREFIX/, a folder with safetensors, gs://BUCKET/PREFIX/, hf://OWNER/NAME@REVISION, oci://REGISTRY/REPOSITORY:TAG, ' +
        'pvc://CLAIM/FOLDER or https://HOST/PATH/LIST.json@sha256:DIGEST (over http:// with its digest alone)',
    });
    return [];
  });
}
