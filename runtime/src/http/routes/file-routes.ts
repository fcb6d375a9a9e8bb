// /v1/files: what clients do with files, but for the upload.

import type { RequestHandler, Response } from 'express';
import { once } from 'node:events';
import { readQuery } from '../api/read-query.js';
import { listFilesQuery } from '../api/batch-queries.js';
import { bytesOf, fileBody } from '../batches/stored-file.js';
import type { ServerParts } from '../replica/server-parts.js';
import { heldFor } from './asker-of.js';
import { listPage } from './list-page.js';
import { ofBatches } from './of-batches.js';

/** Of a page, where the client does not say. */
const defaultLimit = 100;

export const listFilesRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service: { files }, owner, request, response }) => {
    const { after, limit = defaultLimit, order = 'desc', purpose } = readQuery(listFilesQuery, request.query);
    const newestFirst = await files.ids(owner);
    const ids = order === 'desc' ? newestFirst : newestFirst.toReversed();
    const page = await listPage(ids, { after, limit }, async (some) =>
      (await files.existing(owner, some)).filter((file) => purpose === undefined || file.purpose === purpose),
    );
    response.json({ ...page, data: page.data.map(fileBody) });
  });

export const getFileRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service: { files }, owner, id, response }) => {
    response.json(fileBody(await files.require(owner, id)));
  });

export const deleteFileRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service: { files }, owner, id, response }) => {
    await files.delete(owner, id);
    response.json({ id, object: 'file', deleted: true });
  });

export const fileContentRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service: { files }, owner, id, response }) => {
    const file = await files.require(owner, id);
    heldFor(parts, response).take(2 * Math.max(0, ...file.parts.map(({ bytes }) => bytes)));
    const [first, ...others] = file.parts;
    // What is not there any more is said while it can be.
    const head = first === undefined ? Buffer.alloc(0) : await files.part(first);
    response.setHeader('content-type', 'application/octet-stream');
    response.setHeader('content-length', bytesOf(file));
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      await send(response, head, gone.signal);
      for (const part of others) await send(response, await files.part(part), gone.signal);
      response.end();
    } catch (error) {
      if (gone.signal.aborted) return;
      // What was sent is not the file: the connection says so.
      parts.logger.warn('a file was not sent whole', { id, error: String(error) });
      response.destroy();
    }
  });

/** Resolves once more may be sent. @throws AbortError: the client went away */
async function send(response: Response, bytes: Buffer, gone: AbortSignal): Promise<void> {
  gone.throwIfAborted();
  if (!response.write(bytes)) await once(response, 'drain', { signal: gone });
}
