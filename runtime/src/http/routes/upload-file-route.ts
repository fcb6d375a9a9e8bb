// POST /v1/files: a file as multipart/form-data, stored as it comes. What is held of it is bounded, and counts as a body.

import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import { invalidRequest, violationAt } from '../../request/body/violation.js';
import { requireUpload } from '../../request/fields/upload-fields.js';
import { recordOf } from '../access/request-record.js';
import { boundaryOf, MultipartReader } from '../batches/multipart-reader.js';
import { fileBody } from '../batches/stored-file.js';
import { partBytes, type FileWriter } from '../batches/stored-files.js';
import type { HeldBody } from '../bodies/body-budget.js';
import type { ServerParts } from '../replica/server-parts.js';
import { ofBatches } from './of-batches.js';

const maxFieldBytes = 1024;
const maxNameLength = 255;

export const uploadFileRoute = (parts: ServerParts): RequestHandler =>
  ofBatches(parts, async ({ service: { files }, owner, request, response }) => {
    const boundary = boundaryOf(request.get('content-type'));
    if (request.get('content-encoding') !== undefined)
      throw ApiError.of('invalid_request', 'a file is not read compressed: send it without content-encoding');
    const writer = files.begin(owner);
    try {
      const filename = await readForm(parts, request, response, boundary, writer);
      response.json(fileBody(await writer.end(filename.slice(0, maxNameLength), 'batch')));
    } catch (error) {
      // What is left of it is deleted by its age, where the store is away.
      await writer.abandon().catch(() => undefined);
      throw error;
    } finally {
      request.resume();
    }
  });

/** The file's name, once all of it is written. @throws ApiError */
async function readForm(
  { bodies }: ServerParts,
  request: Request,
  response: Response,
  boundary: string,
  writer: FileWriter,
): Promise<string> {
  const cut = new AbortController();
  const held = bodies.open(recordOf(response).key, (reason) => {
    // What comes of it is not waited for either.
    response.setHeader('connection', 'close');
    cut.abort(reason);
  });
  try {
    // The part that comes and the one that is stored.
    const announced = request.get('content-length');
    held.take(Math.min(2 * partBytes, announced === undefined ? Infinity : Number(announced)));
    const fields = new Map<string, string>();
    let current: string | null = null;
    let filename = 'file';
    let hasFile = false;
    const reader = new MultipartReader(boundary);
    for await (const chunk of chunksOf(request, held, cut.signal))
      for (const event of reader.push(chunk)) {
        if (event.kind === 'part') {
          current = event.name;
          if (event.name === 'file') {
            if (hasFile) throw invalidRequest([violationAt('file', 'must be one file')]);
            hasFile = true;
            filename = event.filename ?? filename;
          } else fields.set(event.name, '');
        } else if (event.kind === 'bytes') {
          if (current === 'file') await writer.add(event.bytes);
          else addTo(fields, current ?? '', event.bytes);
        }
      }
    reader.end();
    held.arrived();
    requireUpload(fields, hasFile);
    return filename;
  } finally {
    held.release();
  }
}

/** Of a body that may stop coming. @throws ApiError request_aborted; why it is not waited for any more */
async function* chunksOf(request: Request, held: HeldBody, cut: AbortSignal): AsyncGenerator<Buffer> {
  const cutOff = new Promise<never>((_, reject) => {
    cut.addEventListener('abort', () => reject(cut.reason as Error), { once: true });
  });
  // Nobody may be waiting for it.
  cutOff.catch(() => undefined);
  // The request is answered although not all of it was read.
  const chunks: AsyncIterator<Buffer, undefined> = request.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const { done, value } = await Promise.race([chunks.next(), cutOff]);
      if (done === true) return;
      held.came(value.length);
      yield value;
    }
  } catch (error) {
    throw error instanceof ApiError ? error : ApiError.of('request_aborted', 'the client went away');
  } finally {
    // What still comes is read by whoever forgets it.
    void chunks.return?.();
  }
}

function addTo(fields: Map<string, string>, name: string, bytes: Buffer): void {
  const text = (fields.get(name) ?? '') + bytes.toString();
  if (text.length > maxFieldBytes) throw invalidRequest([violationAt(name, 'is too long')]);
  fields.set(name, text);
}
