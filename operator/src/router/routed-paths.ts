// What a router answers or sends on: the routes whose bodies name a model. What has been stored (responses, conversations,
// files, batches) is one service's own and asked of that one.

/** As of the routes that answer for a model; those below /v1 repeat below /openai. */
export const modelPaths: readonly string[] = [
  '/v1/chat/completions',
  '/v1/chat/completions/render',
  '/v1/chat/completions/derender',
  '/v1/completions',
  '/v1/completions/render',
  '/v1/completions/derender',
  '/v1/responses',
  '/v1/responses/input_tokens',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/embeddings',
  '/v1/rerank',
  '/v1/score',
  '/rerank',
  '/v2/rerank',
  '/score',
  '/classify',
  '/tokenize',
  '/detokenize',
  '/apply-template',
];

/** Of these the texts are read, and nothing is computed of them. */
const readsAlone = /\/(render|derender|input_tokens|count_tokens|tokenize|detokenize|apply-template)$/;

export interface RoutedModel {
  readonly kind: 'model';
  /** One of `modelPaths`. */
  readonly path: string;
  readonly generates: boolean;
}

export type RoutedPath =
  | RoutedModel
  | { readonly kind: 'list' }
  | { readonly kind: 'retrieve'; readonly name: string }
  | { readonly kind: 'health' }
  /** It is there for another method. */
  | { readonly kind: 'otherMethod'; readonly allow: string }
  | { readonly kind: 'unknown' };

const models = '/v1/models';

/** @param url with its query */
export function routedPath(method: string, url: string): RoutedPath {
  const asked = url.split('?', 1).join();
  const path = asked.replace(/^\/openai(?=\/v1\/)/, '').replace(/(?<=.)\/$/, '');
  const isRead = method === 'GET' || method === 'HEAD';
  if (modelPaths.includes(path)) {
    const generates = !readsAlone.test(path);
    return method === 'POST' ? { kind: 'model', path, generates } : { kind: 'otherMethod', allow: 'POST' };
  }
  const found = readPath(path);
  return found.kind === 'unknown' || isRead ? found : { kind: 'otherMethod', allow: 'GET' };
}

function readPath(path: string): RoutedPath {
  if (path === '/health') return { kind: 'health' };
  if (path === models) return { kind: 'list' };
  if (!path.startsWith(`${models}/`)) return { kind: 'unknown' };
  try {
    return { kind: 'retrieve', name: decodeURIComponent(path.slice(models.length + 1)) };
  } catch {
    return { kind: 'unknown' };
  }
}
