// A gateway's router takes every route whose body names a model, and no other: both lists are held together here, since
// operator and runtime do not know each other.

import { expect, test } from '@jest/globals';
import { modelPaths, routedPath } from '../../operator/src/router/routed-paths.js';
import { routeTable, type Route } from '../../runtime/src/http/api/route-table.js';

/** With a body, but of what is stored, of the replica itself, or with the model in the path. */
const elsewhere = [
  ...['/v1/conversations', '/v1/conversations/{id}', '/v1/conversations/{id}/items', '/v1/batches'],
  ...['/v1/models/{name}:predict', '/v2/models/{name}/infer', '/generate', '/warmup'],
];

test('each route with a body is one of the gateway’s, or known to be elsewhere', () => {
  const posts = (Object.values(routeTable) as Route[]).filter(
    ({ method, body, isUpload }) => method === 'post' && body !== null && isUpload !== true,
  );
  const paths = posts.map(({ path }) => path);
  expect([...modelPaths].sort()).toEqual(paths.filter((path) => !elsewhere.includes(path)).sort());
});

test.each([
  ['POST', '/v1/chat/completions', 'model'],
  ['POST', '/openai/v1/chat/completions/?a=b', 'model'],
  ['GET', '/v1/chat/completions', 'otherMethod'],
  ['GET', '/v1/models', 'list'],
  ['GET', '/openai/v1/models/', 'list'],
  ['POST', '/v1/models', 'otherMethod'],
  ['GET', '/v1/models/a%2Fb', 'retrieve'],
  ['GET', '/v1/models/%', 'unknown'],
  ['GET', '/health', 'health'],
  ['GET', '/metrics', 'unknown'],
  ['POST', '/v1/files', 'unknown'],
  ['POST', '/v1/../v1/completions', 'unknown'],
])('%s %s is %s', (method, url, kind) => {
  expect(routedPath(method, url).kind).toBe(kind);
});
