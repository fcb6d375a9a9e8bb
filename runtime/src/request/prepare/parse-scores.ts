// The bodies of requests for scores and classes as typed, complete values, and what the engine runs for them.

import type { GenerateRequest } from '../../engine/protocol.js';
import { ApiError } from '../body/api-error.js';
import { readTexts, type TextSource } from '../fields/prompt.js';
import { readModel, readScheduling, type Scheduling } from '../fields/scheduling.js';
import { validateBody } from '../validate/validate-body.js';
import type { Classifier } from './classifier.js';
import { encodePair, type Pair } from './pair-prompt.js';
import { encodeInput } from './parse-embeddings.js';
import type { ModelTexts } from './model-texts.js';
import { classifierRequest, requireWhole } from './prompt-request.js';

interface Judged extends Scheduling {
  /** The name that the client asked for; null: it did not say. */
  readonly model: string | null;
  /** Whether probabilities are wanted, and not logits. */
  readonly activates: boolean;
}

export interface PairsRequest extends Judged {
  /** One score each. */
  readonly pairs: readonly Pair[];
  /** Null: the usual one. */
  readonly instruction: string | null;
}

export interface RerankRequest extends PairsRequest {
  /** Null: all. */
  readonly topN: number | null;
  readonly returnsDocuments: boolean;
}

export interface ClassifyRequest extends Judged {
  readonly inputs: readonly TextSource[];
}

/** @throws ApiError invalid_request, with every violation */
export function parseRerank(body: unknown): RerankRequest {
  const fields = validateBody('rerank', body);
  const { query, documents, top_n = 0, return_documents = true } = fields;
  const pairs = documents.map((document, index) => ({
    query,
    document: typeof document === 'string' ? document : document.text,
    param: placeOf('documents', documents, index),
    queryParam: 'query',
  }));
  requireBounded(pairs, fields.instruction, 'documents');
  return {
    pairs,
    topN: top_n === 0 ? null : top_n,
    returnsDocuments: return_documents,
    ...readJudged(fields),
    instruction: fields.instruction ?? null,
  };
}

/** @throws ApiError invalid_request, with every violation */
export function parseScore(body: unknown): PairsRequest {
  const fields = validateBody('score', body);
  const queries = [fields.text_1].flat();
  const documents = [fields.text_2].flat();
  const [only = ''] = queries;
  if (queries.length !== 1 && queries.length !== documents.length) {
    const found = `${String(queries.length)} texts, and text_2 has ${String(documents.length)}`;
    const message = `text_1 has ${found}: send one as text_1, or as many as of text_2`;
    throw ApiError.of('invalid_request', message, { param: 'text_1' });
  }
  const pairs = documents.map((document, index) => ({
    query: queries.length === 1 ? only : (queries[index] ?? ''),
    document,
    param: placeOf('text_2', documents, index),
    queryParam: placeOf('text_1', queries, index),
  }));
  requireBounded(pairs, fields.instruction, 'text_2');
  return { pairs, ...readJudged(fields), instruction: fields.instruction ?? null };
}

/** A query is encoded with each document: a small body may ask for texts of any length. */
const maxPairChars = 2 ** 24;

/** @throws ApiError invalid_request */
function requireBounded(pairs: readonly Pair[], instruction: string | null | undefined, param: string): void {
  const beside = instruction?.length ?? 0;
  const chars = pairs.reduce((sum, { query, document }) => sum + query.length + document.length + beside, 0);
  if (chars <= maxPairChars) return;
  const found = `${String(pairs.length)} texts, each with its query and instruction, have ${String(chars)} characters`;
  const message = `${param}: ${found}, more than ${String(maxPairChars)}: send fewer at once`;
  throw ApiError.of('invalid_request', message, { param });
}

/** @throws ApiError invalid_request, with every violation */
export function parseClassify(body: unknown): ClassifyRequest {
  const fields = validateBody('classify', body);
  return { inputs: readTexts(fields.input, fields.add_special_tokens ?? true), ...readJudged(fields) };
}

type JudgedFields = Parameters<typeof readModel>[0] &
  Parameters<typeof readScheduling>[0] & { readonly use_activation?: boolean | undefined };

const readJudged = (fields: JudgedFields): Judged => ({
  model: readModel(fields),
  activates: fields.use_activation ?? true,
  ...readScheduling(fields),
});

const placeOf = (field: string, entries: readonly unknown[], index: number): string =>
  entries.length > 1 ? `${field}.${String(index)}` : field;

/** @throws ApiError chat_template_refused, context_length_exceeded, invalid_request; the signal's reason */
export async function preparePair(
  request: PairsRequest,
  pair: Pair,
  id: string,
  classifier: Classifier,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<GenerateRequest> {
  const prompt = await encodePair(pair, request.instruction, classifier, model, signal);
  requireWhole(prompt, pair.param, model.maxModelLen);
  return classifierRequest(id, prompt, classifier, model.maxModelLen, request);
}

/** @throws ApiError context_length_exceeded, invalid_request; the signal's reason */
export async function prepareClassified(
  request: ClassifyRequest,
  input: TextSource,
  id: string,
  classifier: Classifier,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<GenerateRequest> {
  const prompt = await encodeInput(request.inputs, input, model, signal);
  return classifierRequest(id, prompt, classifier, model.maxModelLen, request);
}
