// The public route by the Gateway API: one host, the API's paths, no time limit (a stream lasts as long as it lasts).

import { ports } from '@llmservice/crds';
import type { WantedService } from '../spec/parse-spec.js';
import type { KubeObject } from '../kube/types.js';
import { childMetadata } from './child-metadata.js';
import { publicPaths, type PublicPath } from './public-paths.js';
import type { Gateway } from './routing.js';

export function planHttpRoute(service: WantedService, host: string, gateway: Gateway): KubeObject {
  const { pathPrefix } = service.spec.routing;
  const backend = {
    backendRefs: [{ group: '', kind: 'Service', name: service.name, port: ports.service, weight: 1 }],
    timeouts: { request: '0s' },
  };
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: childMetadata(service, service.name),
    spec: {
      parentRefs: [
        {
          group: 'gateway.networking.k8s.io',
          kind: 'Gateway',
          name: gateway.name,
          namespace: gateway.namespace,
        },
      ],
      hostnames: [host],
      rules:
        pathPrefix === undefined
          ? [{ matches: publicPaths.map((path) => ({ path })), ...backend }]
          : publicPaths.map((path) => ({ ...behindPrefix(pathPrefix, path), ...backend })),
    },
  };
}

/** The server is asked for the path alone. A rule has one rewrite, so that each path has a rule. */
function behindPrefix(pathPrefix: string, { type, value }: PublicPath): object {
  const path =
    type === 'Exact'
      ? { type: 'ReplaceFullPath', replaceFullPath: value }
      : { type: 'ReplacePrefixMatch', replacePrefixMatch: value };
  return {
    matches: [{ path: { type, value: pathPrefix + value } }],
    filters: [{ type: 'URLRewrite', urlRewrite: { path } }],
  };
}
