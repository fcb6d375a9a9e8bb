// The express app: which handler answers which route. `/v1` repeats under `/openai`.

import express, { type Express } from 'express';
import { authenticate } from './access.js';
import { chatShape } from './chat-shape.js';
import { requireClientCertificate } from './client-certificate.js';
import { completionShape } from './completion-shape.js';
import { embeddingsRoute } from './embeddings-route.js';
import { errorHandler, notFound } from './error-handler.js';
import { healthRoutes } from './health-routes.js';
import { getModelRoute, listModelsRoute } from './models-route.js';
import { openAiRoute } from './openai-route.js';
import { predictRoute } from './predict-route.js';
import type { ServerParts } from './server-parts.js';

export function makeApp(parts: ServerParts, { clientCertificates = false } = {}): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const startedAt = Math.floor(Date.now() / 1000);
  // Clients such as curl leave the content type out or wrong; bodies are JSON here whatever it says.
  const json = express.json({ limit: parts.maxBodyBytes, type: () => true });

  app.use(authenticate(parts.access));
  app.use(healthRoutes(parts));
  if (clientCertificates) app.use(requireClientCertificate);
  for (const prefix of ['/v1', '/openai/v1']) {
    app.post(`${prefix}/chat/completions`, json, openAiRoute(parts, 'chat', chatShape));
    app.post(`${prefix}/completions`, json, openAiRoute(parts, 'completions', completionShape));
    app.post(`${prefix}/embeddings`, json, embeddingsRoute(parts));
    app.get(`${prefix}/models`, listModelsRoute(parts, startedAt));
    app.get(`${prefix}/models/:name`, getModelRoute(parts, startedAt));
    app.post(`${prefix}/models/:name\\:predict`, json, predictRoute(parts));
  }
  app.use(notFound);
  app.use(errorHandler(parts.logger));
  return app;
}
