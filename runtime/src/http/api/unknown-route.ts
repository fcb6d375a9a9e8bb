// Requests that match no route: 405 with the methods of the path, or 404 with the routes whose paths are nearest.

import type { RequestHandler } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { mountedRoutes, type MountedRoute } from './route-table.js';

/** Routes that a 404 names. */
const named = 3;

/** Of other servers: why they are not here, by their paths. */
const unserved: readonly { readonly paths: RegExp; readonly why: string }[] = [
  {
    paths: /^\/pooling\/?$/,
    why: 'POST /v1/embeddings has the hidden states of a text, POST /classify the probabilities of its labels',
  },
  {
    paths: /^\/v1\/uploads(\/|$)/,
    why: 'POST /v1/files takes a file whole, where the server keeps files',
  },
  {
    paths: /^\/v1\/chat\/completions\/batch\/?$/,
    why: 'send each conversation by itself: requests that come together run together',
  },
  {
    paths: /^\/inference\/v1\/generate\/?$/,
    why: 'POST /v1/completions takes token ids as prompt, and returns them with return_token_ids',
  },
  {
    paths: /^\/(v1\/)?abort_requests\/?$/,
    why: 'a request ends when its connection is closed, and one in the background by POST /v1/responses/{id}/cancel',
  },
];

export const unknownRoute: RequestHandler = ({ method, path }, response) => {
  const methods = methodsOf(path);
  if (methods.length > 0) {
    response.setHeader('allow', methods.join(', '));
    if (method === 'OPTIONS') {
      response.status(204).end();
      return;
    }
    const message = `${path} does not take ${method}: send ${methods.join(' or ')}`;
    throw ApiError.of('method_not_allowed', message);
  }
  const known = unserved.find(({ paths }) => paths.test(path));
  if (known !== undefined)
    throw ApiError.of('route_not_found', `there is no ${method} ${path} here: ${known.why}`);
  const near = nearest(path).map((route) => `${route.method.toUpperCase()} ${route.path}`);
  const message = `there is no ${method} ${path} here; nearest are ${near.join(', ')}; GET / lists all`;
  throw ApiError.of('route_not_found', message);
};

/** Path of the route that matches such requests, as the table writes it; null: none does. */
export function routeAt(method: string, path: string): string | null {
  return matchingRoutes(path).find((route) => route.method.toUpperCase() === method)?.path ?? null;
}

function methodsOf(path: string): string[] {
  const methods = matchingRoutes(path).map((route) => route.method.toUpperCase());
  return [...new Set(methods)].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** The longest matching path wins: what ends in `:predict` is not the name of a model. */
function matchingRoutes(path: string): readonly MountedRoute[] {
  const matching = patterns.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route);
  const longest = Math.max(...matching.map((route) => route.path.length));
  return matching.filter((route) => route.path.length === longest);
}

const patterns = mountedRoutes.map((route) => ({ route, pattern: patternOf(route.path) }));

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i');
}

function nearest(path: string): (typeof mountedRoutes)[number][] {
  // A path of megabytes is not compared letter by letter.
  const asked = path.slice(0, 100).toLowerCase();
  return mountedRoutes
    .map((route) => ({ route, distance: editDistance(asked, route.path) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, named)
    .map(({ route }) => route);
}

/** Letters to insert, delete or replace (Wagner and Fischer, 1974), one row of their table at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === to[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
