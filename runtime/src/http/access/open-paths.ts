// What answers anybody, also where keys or client certificates are asked for: the kubelet's probes have neither. A list
// of the exceptions, so that a route that is added later is protected.

import { routes } from '@llmservice/crds';

export const healthPaths: readonly string[] = [
  routes.health,
  routes.live,
  routes.ready,
  routes.startup,
  '/v2/health/live',
  '/v2/health/ready',
];

/** Asked through the public route by the operator, which has no key. It costs a timer. */
export const streamCheckPaths: readonly string[] = [routes.streamCheck, `/openai${routes.streamCheck}`];

/** The page, which asks for a key itself where it needs one. */
export const pagePaths: readonly string[] = ['/ui', '/ui/'];
