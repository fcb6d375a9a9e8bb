// What of a service is public. Metrics, probes and the page are for the cluster's own eyes.

export interface PublicPath {
  readonly type: 'PathPrefix' | 'Exact';
  readonly value: string;
}

export const publicPaths: readonly PublicPath[] = [
  { type: 'PathPrefix', value: '/v1' },
  { type: 'PathPrefix', value: '/openai' },
  { type: 'Exact', value: '/health' },
];
