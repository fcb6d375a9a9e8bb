// The prompt that asks a causal model whether a document answers a query.

import { ApiError } from '../body/api-error.js';
import { encodeString } from '../fields/encode-string.js';
import type { Classifier } from './classifier.js';
import type { ModelTexts } from './model-texts.js';
import { requireFit } from './prepare-generation.js';
import { renderMessages } from './render-messages.js';

/** A document, and the query that it is judged by. */
export interface Pair {
  readonly query: string;
  readonly document: string;
  /** The document's place in the request. */
  readonly param: string;
  /** The query's. */
  readonly queryParam: string;
}

/** Of Qwen3-Reranker's model card, where a request has none. */
const usualInstruction = 'Given a web search query, retrieve relevant passages that answer the query';

/** As Qwen3-Reranker's model card has it, with the labels as words. */
const taskOf = ([no = '', yes = '']: readonly string[]): string =>
  'Judge whether the Document meets the requirements based on the Query and the Instruct provided. ' +
  `Note that the answer can only be "${yes}" or "${no}".`;

/** @throws ApiError task_not_supported, chat_template_refused, context_length_exceeded, invalid_request; the signal's reason */
export async function encodePair(
  pair: Pair,
  instruction: string | null,
  classifier: Classifier,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<Int32Array> {
  if (classifier.kind === 'head' && classifier.pooling === 'cls')
    return encodeSides(pair, instruction, model, signal);
  const text = await pairText(pair, instruction ?? usualInstruction, classifier, model, signal);
  const { param } = pair;
  await requireFit(text, model, param, { maxPromptTokens: model.maxModelLen, named: param, signal });
  return encodeString(text, false, model, param, signal);
}

/**
 * As cross-encoders of XLM-RoBERTa are trained: `<s> query </s></s> document </s>`.
 * @throws ApiError as of `encodePair`
 */
async function encodeSides(
  { query, document, param, queryParam }: Pair,
  instruction: string | null,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<Int32Array> {
  if (instruction !== null)
    throw ApiError.of('invalid_request', 'instruction: this model reads the two texts alone', {
      param: 'instruction',
    });
  const how = { maxPromptTokens: model.maxModelLen, named: param, signal };
  await requireFit(query, model, queryParam, { ...how, named: queryParam });
  await requireFit(document, model, param, how);
  const first = await encodeString(query, true, model, queryParam, signal);
  const second = await encodeString(document, true, model, param, signal);
  // Where the second text begins stands what ends the first.
  return Int32Array.from([...first, ...first.slice(-1), ...second.slice(1)]);
}

async function pairText(
  { query, document }: Pair,
  instruction: string,
  classifier: Classifier,
  model: ModelTexts,
  signal?: AbortSignal,
): Promise<string> {
  // Clients of vLLM may write the model's prompt themselves, around both texts.
  if (query.startsWith('<|im_start|>')) return query + document;
  const isQwen3 = isOfQwen3(model);
  if (classifier.kind === 'head' && !isQwen3) throw unknownPrompt();
  const task = taskOf(classifier.kind === 'head' ? ['no', 'yes'] : classifier.names.map(wordOf));
  const asked = `<Instruct>: ${instruction}\n<Query>: ${query}\n<Document>: ${document}`;
  // The checkpoint's chat template may be for anything else: this is what the model was trained on.
  if (isQwen3)
    return (
      `<|im_start|>system\n${task}<|im_end|>\n<|im_start|>user\n${asked}<|im_end|>\n` +
      '<|im_start|>assistant\n<think>\n\n</think>\n\n'
    );
  return renderMessages(
    {
      kind: 'messages',
      messages: [
        { role: 'system', content: task },
        { role: 'user', content: asked },
      ],
      template: null,
      documents: null,
      templateKwargs: { enable_thinking: false },
      ending: 'answer',
      field: 'messages',
      plainText: null,
    },
    model,
    undefined,
    signal,
  );
}

const isOfQwen3 = ({ tokenizer }: ModelTexts): boolean =>
  ['<|im_start|>', '<|im_end|>', '<think>', '</think>'].every((token) => tokenizer.tokenId(token) !== null);

/** How a head was trained to see a pair, its checkpoint does not say. */
const unknownPrompt = (): ApiError =>
  ApiError.of(
    'task_not_supported',
    'the prompt that this model was trained to judge pairs by is not known: write it yourself, and POST /classify',
  );

/** A token without what vocabularies write for a space. */
const wordOf = (token: string): string => token.replace(/^[Ġ▁]/, '');
