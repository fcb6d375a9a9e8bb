// Name, owner and labels of a route, and on it the service that it leads to instead of its own.

import { annotations } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { childMetadata } from '../identity/child-metadata.js';

/** @param fallback null: it leads to its own service */
export function routeMetadata(
  service: WantedService,
  fallback: string | null,
): ReturnType<typeof childMetadata> & { readonly annotations?: Readonly<Record<string, string>> } {
  return {
    ...childMetadata(service, service.name),
    ...(fallback === null ? {} : { annotations: { [annotations.fallback]: fallback } }),
  };
}
