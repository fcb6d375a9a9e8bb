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
  }));
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
  }));
  return { pairs, ...readJudged(fields), instruction: fields.instruction ?? null };
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

/** @throws ApiError task_not_supported */
export function requireClassifier({ classifier }: ModelTexts): Classifier {
  if (classifier !== null) return classifier;
  const message =
    'this model judges no texts: engine.classifierFromToken (--classifier-from-token, CLASSIFIER_FROM_TOKEN) ' +
    'names the tokens of one that does, such as no,yes of Qwen3-Reranker';
  throw ApiError.of('task_not_supported', message);
}

/** @throws ApiError task_not_supported */
export function requireScorer(model: ModelTexts): Classifier {
  const classifier = requireClassifier(model);
  if (classifier.labels.length === 2) return classifier;
  const message = `a score needs a model with 2 labels, and this one has ${String(classifier.labels.length)}: POST /classify has their probabilities`;
  throw ApiError.of('task_not_supported', message);
}

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
