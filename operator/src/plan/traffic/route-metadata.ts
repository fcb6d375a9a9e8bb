// Name, owner and labels of a route, and on it the service that it leads to instead of its own.

import { annotations } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { childMetadata } from '../identity/child-metadata.js';

/**
 * @param fallback null: it leads to its own service
 * @param more annotations beside that of the fallback
 */
export function routeMetadata(
  service: WantedService,
  fallback: string | null,
  more: Readonly<Record<string, string>> = {},
): ReturnType<typeof childMetadata> & { readonly annotations?: Readonly<Record<string, string>> } {
  const marks = { ...more, ...(fallback === null ? {} : { [annotations.fallback]: fallback }) };
  return {
    ...childMetadata(service, service.name),
    ...(Object.keys(marks).length === 0 ? {} : { annotations: marks }),
  };
}
