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

/** Of these, those whose bodies an endpoint picker reads: all others it would refuse, or spread at random. */
export const pooledPaths: readonly PublicPath[] = [
  '/v1/chat/completions',
  '/v1/completions',
  '/openai/v1/chat/completions',
  '/openai/v1/completions',
].map((value) => ({ type: 'Exact', value }));
