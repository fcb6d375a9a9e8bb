// Texts behind the JSON of a body or of an answer, as KServe's and Triton's clients send tensors: a header says where the JSON ends, each
// input how many of the bytes behind it are its own, and each text of them follows its length in four bytes.
// https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol/binary-tensor-data-extension

import { isObject } from '@llmservice/checkpoint';
import type { Request } from 'express';
import { ApiError } from '../../request/body/api-error.js';
import type { Fields } from '../../request/body/field-table.js';
import { maxTexts } from '../../request/fields/infer-fields.js';

/** Where the JSON ends. */
export const header = 'Inference-Header-Content-Length';
const lengthBytes = 4;

/**
 * Where the JSON of a body ends.
 * @throws ApiError invalid_request
 */
export function jsonBytesOf(request: Pick<Request, 'get'>, bodyBytes: number): number {
  const given = request.get(header);
  if (given === undefined) return bodyBytes;
  const bytes = Number(given);
  if (Number.isSafeInteger(bytes) && bytes >= 0 && bytes <= bodyBytes) return bytes;
  throw refusal(`${header} is ${JSON.stringify(given)}, and the body has ${String(bodyBytes)} bytes`);
}

/**
 * The body with the texts as `data` of the inputs that they belong to.
 * @throws ApiError invalid_request, also where bytes belong to no input
 */
export function withTexts(body: object, tail: Buffer): object {
  let at = 0;
  const placed = (input: unknown, place: string): unknown => {
    if (!isObject(input) || !isObject(input['parameters'])) return input;
    const { binary_data_size: bytes, ...parameters } = input['parameters'];
    if (typeof bytes !== 'number') return input;
    if (Object.hasOwn(input, 'data')) throw refusal(`${place} has data and binary_data_size`);
    const own = tail.subarray(at, at + bytes);
    if (own.length !== bytes) throw refusal(`${place} has fewer bytes than its binary_data_size`);
    at += bytes;
    return { ...input, parameters, data: textsOf(own, place) };
  };
  const { inputs } = body as Fields;
  const list = Array.isArray(inputs) ? (inputs as readonly unknown[]) : [];
  const read = list.map((input, index) => placed(input, `inputs.${String(index)}`));
  if (at < tail.length) throw refusal(`${String(tail.length - at)} bytes after the JSON belong to no input`);
  return { ...body, inputs: read };
}

/** The bytes of a tensor of texts. */
export function bytesOf(texts: readonly string[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(lengthBytes);
      length.writeUInt32LE(Buffer.byteLength(text));
      return [length, Buffer.from(text)];
    }),
  );
}

function textsOf(bytes: Buffer, place: string): readonly string[] {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    if (texts.length === maxTexts) throw refusal(`${place} has more than ${String(maxTexts)} texts`);
    const from = at + lengthBytes;
    const end = from <= bytes.length ? from + bytes.readUInt32LE(at) : Infinity;
    if (end > bytes.length) throw refusal(`a text of ${place} is longer than what is left of its bytes`);
    texts.push(bytes.toString('utf8', from, end));
    at = end;
  }
  return texts;
}

const refusal = (message: string): ApiError => ApiError.of('invalid_request', message);
