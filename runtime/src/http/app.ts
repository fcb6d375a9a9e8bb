// The express app: every route of the table with what answers it.

import express, { type Express, type RequestHandler } from 'express';
import { openApiRoute, rootRoute } from './routes/about-routes.js';
import { authenticate, refuseEarly, requireSingleHeaders } from './access/access.js';
import { answerRoute } from './routes/answer-route.js';
import { chatShape } from './protocols/chat-shape.js';
import { chunkProtocol } from './protocols/chunk-protocol.js';
import { requireClientCertificate } from './access/client-certificate.js';
import { completionShape } from './protocols/completion-shape.js';
import {
  cancelBatchRoute,
  createBatchRoute,
  getBatchRoute,
  listBatchesRoute,
} from './routes/batch-routes.js';
import {
  addItemsRoute,
  createConversationRoute,
  deleteConversationRoute,
  deleteItemRoute,
  getConversationRoute,
  getItemRoute,
  listItemsRoute,
  updateConversationRoute,
} from './routes/conversation-routes.js';
import { crossOrigin } from './access/cross-origin.js';
import { createResponseRoute } from './routes/create-response-route.js';
import { countTokensRoute, messagesCount, responsesCount } from './routes/count-tokens-route.js';
import { derenderRoute } from './routes/derender-route.js';
import { embeddingsRoute } from './routes/embeddings-route.js';
import { classifyRoute } from './routes/classify-route.js';
import { errorHandler } from './routes/error-handler.js';
import { deleteFileRoute, fileContentRoute, getFileRoute, listFilesRoute } from './routes/file-routes.js';
import { generateRoute, warmupRoute } from './routes/generate-route.js';
import {
  aliveRoute,
  healthRoute,
  inferenceLiveRoute,
  inferenceReadyRoute,
  loadRoute,
  metricsRoute,
  versionRoute,
} from './routes/health-routes.js';
import { ApiError } from '../request/body/api-error.js';
import { inferRoute } from './routes/infer-route.js';
import {
  inferenceModelReadyRoute,
  inferenceModelRoute,
  inferenceServerRoute,
} from './routes/inference-routes.js';
import { messagesProtocol } from './protocols/messages-protocol.js';
import { modelPaths } from './routes/model-paths.js';
import { getModelRoute, listModelsRoute } from './routes/models-route.js';
import { predictRoute } from './routes/predict-route.js';
import { reportUsage } from './access/report-usage.js';
import { recordRequests } from './access/request-record.js';
import { responsesProtocol } from './protocols/responses-protocol.js';
import { mountedRoutes, type RouteName } from './api/route-table.js';
import { renderRoute } from './routes/render-route.js';
import { rerankRoute } from './routes/rerank-route.js';
import { scoreRoute } from './routes/score-route.js';
import type { ServerParts } from './replica/server-parts.js';
import { jsonBody } from './bodies/json-body.js';
import {
  cancelResponseRoute,
  deleteResponseRoute,
  getResponseRoute,
  inputItemsRoute,
} from './routes/stored-response-routes.js';
import { streamCheckRoute } from './routes/stream-check-route.js';
import {
  applyTemplateRoute,
  detokenizeRoute,
  tokenizeRoute,
  tokenizerInfoRoute,
} from './routes/text-routes.js';
import { uiFiles, uiRoute, uiStatusRoute } from './routes/ui-routes.js';
import { uploadFileRoute } from './routes/upload-file-route.js';
import { unknownRoute } from './api/unknown-route.js';

export function makeApp(
  parts: ServerParts,
  { clientCertificates = false, pathsPerModel = false, computesForOthers = false } = {},
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // What has a body costs something: it is let in before the body is read.
  const early = refuseEarly(parts.access, parts.admission);
  const read = [early, jsonBody(parts.bodies, parts.turns)];
  app.use(recordRequests(parts, (answer) => parts.metrics.http.answered(answer)));
  app.use(reportUsage);
  if (pathsPerModel) app.use(modelPaths(parts.names));
  if (parts.corsOrigins.length > 0) app.use(crossOrigin(parts.corsOrigins));
  app.use(requireSingleHeaders);
  if (clientCertificates) app.use(requireClientCertificate);
  app.use('/ui', ...uiFiles);
  app.use(authenticate(parts.access));
  if (computesForOthers) app.use(refuseClients);
  const answers = handlers(parts);
  // Express tries one route after the other: those whose first token is waited for come first.
  const inTurn = mountedRoutes.toSorted((a, b) => Number(b.chunk !== null) - Number(a.chunk !== null));
  for (const { name, method, path, body, isUpload = false } of inTurn) {
    const before = isUpload ? [early] : body === null ? [] : read;
    app[method](expressPath(path), ...before, answers[name]);
  }
  app.use(unknownRoute);
  app.use(errorHandler(parts.logger));
  return app;
}

/** Answers beside long prompts would wait for them: of clients a prefill pod takes nothing, so that none is sent here unnoticed. */
const refuseClients: RequestHandler = ({ method, path }, _response, next) => {
  if (method !== 'GET' && method !== 'HEAD') {
    const message = `this pod computes prompts for others (--disaggregation-role prefill), and answers no ${method} ${path}: send it to the service`;
    throw ApiError.of('route_not_found', message);
  }
  next();
};

function handlers(parts: ServerParts): Record<RouteName, RequestHandler> {
  const startedAt = Math.floor(Date.now() / 1000);
  const { storedResponses } = parts;
  return {
    root: rootRoute(parts),
    openApi: openApiRoute(parts),
    version: versionRoute(parts),
    health: healthRoute(parts),
    ready: healthRoute(parts),
    live: aliveRoute,
    startup: aliveRoute,
    inferenceReady: inferenceReadyRoute(parts),
    inferenceLive: inferenceLiveRoute,
    inferenceServer: inferenceServerRoute,
    inferenceModel: inferenceModelRoute(parts),
    inferenceModelReady: inferenceModelReadyRoute(parts),
    infer: inferRoute(parts),
    load: loadRoute(parts),
    metrics: metricsRoute(parts),
    ui: uiRoute,
    uiStatus: uiStatusRoute(parts),
    chat: answerRoute(parts, chunkProtocol('chat', chatShape)),
    completions: answerRoute(parts, chunkProtocol('completions', completionShape)),
    renderChat: renderRoute(parts, 'chat'),
    renderCompletions: renderRoute(parts, 'completions'),
    derenderChat: derenderRoute(parts, 'derenderChat'),
    derenderCompletions: derenderRoute(parts, 'derenderCompletions'),
    responses:
      storedResponses === null
        ? answerRoute(parts, responsesProtocol)
        : createResponseRoute(parts, storedResponses),
    getResponse: getResponseRoute(parts),
    deleteResponse: deleteResponseRoute(parts),
    cancelResponse: cancelResponseRoute(parts),
    inputItems: inputItemsRoute(parts),
    createConversation: createConversationRoute(parts),
    getConversation: getConversationRoute(parts),
    updateConversation: updateConversationRoute(parts),
    deleteConversation: deleteConversationRoute(parts),
    addItems: addItemsRoute(parts),
    listItems: listItemsRoute(parts),
    getItem: getItemRoute(parts),
    deleteItem: deleteItemRoute(parts),
    messages: answerRoute(parts, messagesProtocol),
    countTokens: countTokensRoute(parts, messagesCount),
    inputTokens: countTokensRoute(parts, responsesCount(parts)),
    embeddings: embeddingsRoute(parts),
    rerank: rerankRoute(parts),
    rerankOfJina: rerankRoute(parts),
    rerankOfCohere: rerankRoute(parts),
    score: scoreRoute(parts),
    scoreOfVllm: scoreRoute(parts),
    classify: classifyRoute(parts),
    uploadFile: uploadFileRoute(parts),
    listFiles: listFilesRoute(parts),
    getFile: getFileRoute(parts),
    fileContent: fileContentRoute(parts),
    deleteFile: deleteFileRoute(parts),
    createBatch: createBatchRoute(parts),
    listBatches: listBatchesRoute(parts),
    getBatch: getBatchRoute(parts),
    cancelBatch: cancelBatchRoute(parts),
    listModels: listModelsRoute(parts, startedAt),
    getModel: getModelRoute(parts, startedAt),
    predict: predictRoute(parts),
    generate: generateRoute(parts),
    tokenize: tokenizeRoute(parts),
    detokenize: detokenizeRoute(parts),
    tokenizerInfo: tokenizerInfoRoute(parts),
    applyTemplate: applyTemplateRoute(parts),
    streamCheck: streamCheckRoute(parts),
    warmup: warmupRoute(parts),
  };
}

/** As express writes paths: a colon of the path itself is escaped. */
const expressPath = (path: string): string => path.replaceAll(':', '\\:').replaceAll(/\{(\w+)\}/g, ':$1');
