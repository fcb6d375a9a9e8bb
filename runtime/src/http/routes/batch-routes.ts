// /v1/batches: what clients do with batches. A runner of any pod answers their rows.

import type { RequestHandler } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { validateBody } from '../../request/validate/validate-body.js';
import { listBatchesQuery } from '../api/batch-queries.js';
import { readQuery } from '../api/read-query.js';
import { batchBody, cancel, type Batch } from '../batches/batch.js';
import { placeOf } from '../batches/stored-batches.js';
import type { ServerParts } from '../replica/server-parts.js';
import { listPage } from './list-page.js';
import { ofBatches } from './of-batches.js';

/** Of a page, where the client does not say. */
const defaultLimit = 20;

export const createBatchRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service, owner, request, response }) => {
    parts.lifecycle.requireServing();
    if (service.refusal !== null) throw ApiError.of('route_not_found', service.refusal);
    const { input_file_id: inputFileId, endpoint, metadata } = validateBody('batches', request.body);
    const { purpose } = await service.files.require(owner, inputFileId);
    if (purpose !== 'batch') {
      const message = `input_file_id must name a file that was uploaded with the purpose batch, not ${purpose}`;
      throw ApiError.of('invalid_request', message, { param: 'input_file_id' });
    }
    const batch = await service.batches.create(owner, { endpoint, inputFileId, metadata: metadata ?? null });
    response.json(bodyOf(parts, batch));
    service.runner.look();
  });

export const getBatchRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service, owner, id, response }) => {
    response.json(bodyOf(parts, await service.batches.require(owner, id)));
  });

export const listBatchesRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service: { batches }, owner, request, response }) => {
    const { after, limit = defaultLimit } = readQuery(listBatchesQuery, request.query);
    const ids = await batches.ids(owner);
    const page = await listPage(ids, { after, limit }, (some) => batches.existing(owner, some));
    response.json({ ...page, data: page.data.map((batch) => bodyOf(parts, batch)) });
  });

export const cancelBatchRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service, owner, id, response }) => {
    const { batches, runner } = service;
    const found = await batches.require(owner, id);
    const cancelled = await batches.change(placeOf(found), (batch) => cancel(batch, Date.now()));
    response.json(bodyOf(parts, cancelled));
    runner.changed(id);
  });

const bodyOf = ({ names }: ServerParts, batch: Batch): object => batchBody(batch, names.name);
