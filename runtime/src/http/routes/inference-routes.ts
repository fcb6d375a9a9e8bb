// GET /v2…: what KServe's clients ask version 2 of its protocol, the Open Inference Protocol, before they send anything.

import type { RequestHandler } from 'express';
import { tensors } from '../../request/fields/infer-fields.js';
import { version } from '../api/version.js';
import { resolveName } from '../replica/served-model.js';
import type { ServerParts } from '../replica/server-parts.js';

export const inferenceServerRoute: RequestHandler = (_request, response) => {
  response.json({ name: 'llmservice', version, extensions: ['binary_tensor_data'] });
};

export function inferenceModelRoute({ names }: ServerParts): RequestHandler {
  return (request, response) => {
    const name = resolveName(names, String(request.params['name']), request);
    response.json({
      name,
      versions: [],
      platform: 'llmservice',
      inputs: [textsAs(tensors.input)],
      outputs: [textsAs(tensors.output)],
    });
  };
}

/** As many as a request has. */
const textsAs = (name: string): object => ({ name, datatype: 'BYTES', shape: [-1] });

/** The client reads the status alone. */
export function inferenceModelReadyRoute({ names, lifecycle }: ServerParts): RequestHandler {
  return (request, response) => {
    const name = resolveName(names, String(request.params['name']), request);
    const ready = lifecycle.health().state === 'serving';
    response.status(ready ? 200 : 503).json({ name, ready });
  };
}
