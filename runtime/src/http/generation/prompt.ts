// A prompt as its answers need it: what the engine is to run, and how their tokens are read as text.

import type { GenerateRequest } from '../../engine/protocol.js';
import type { RequestAccount } from '../../keys/request-account.js';
import type { ApiRequest, PromptSource } from '../../request/parse/parse-request.js';
import { prepareGeneration } from '../../request/prepare/prepare-generation.js';
import type { PromptEcho } from '../../request/text/prompt-echo.js';
import { opensReasoning } from '../../request/text/reasoning.js';
import { TextStream, type TextStreamOptions } from '../../request/text/text-stream.js';
import { ToolReader } from '../../tools/tool-reader.js';
import type { ServedModel } from '../replica/served-model.js';
import { newId } from '../replica/server-parts.js';
import { PromptShare } from './prompt-share.js';

/** A prompt of a request. */
export interface AskedGeneration {
  readonly id: string;
  readonly request: ApiRequest;
  readonly source: PromptSource;
}

/** What the answers to one prompt have in common. */
export interface Prompt {
  readonly request: ApiRequest;
  readonly prepared: GenerateRequest;
  readonly share: PromptShare;
  /** Null: not asked for. */
  readonly echo: PromptEcho | null;
  readonly newText: () => TextStream;
}

/** @throws ApiError whatever is wrong with it */
export async function preparePrompt(
  { id, request, source }: AskedGeneration,
  { model, account }: { readonly model: ServedModel; readonly account: RequestAccount },
): Promise<Prompt> {
  const prepared = account.share(await prepareGeneration(request, source, id, model), request.priority);
  // Reasoning is told apart where a chat template wrote the prompt.
  const think = source.kind === 'messages' ? model.think : null;
  const inReasoning = think !== null && opensReasoning(prepared.prompt, think, model.eosIds);
  const { details, rules } = request;
  const textOptions: Omit<TextStreamOptions, 'tools'> = {
    newDetokenizer: () => model.tokenizer.detokenizer({ skipSpecialTokens: request.skipSpecialTokens }),
    textOf: (id) => model.tokenizer.tokenText(id),
    stopStrings: request.stopStrings,
    includeStopString: request.includeStopString,
    stopTokenIds: request.stopTokenIds,
    minTokens: rules?.minTokens ?? 0,
    logprobs: details.logprobs,
    tellsIds: details.tokenIds,
    think,
    inReasoning,
  };
  return {
    request,
    prepared,
    share: new PromptShare(),
    echo: details.echo ? echoOf(source, prepared.prompt, request, model) : null,
    newText: () => new TextStream({ ...textOptions, tools: toolReaderOf(request, model) }),
  };
}

/** The client's own text where it gave one and all of it was taken. */
function echoOf(
  source: PromptSource,
  ids: Int32Array,
  { keptPromptTokens, skipSpecialTokens }: ApiRequest,
  { tokenizer }: ServedModel,
): PromptEcho {
  const isWhole = source.kind === 'text' && keptPromptTokens === null;
  return { ids, text: isWhole ? source.text : tokenizer.decode(ids, { skipSpecialTokens }) };
}

function toolReaderOf(
  { tools, skipSpecialTokens }: ApiRequest,
  { toolDialect }: ServedModel,
): ToolReader | null {
  if (tools === null || toolDialect === null) return null;
  const newCallId = (): string => newId('call_');
  return new ToolReader({ dialect: toolDialect, use: tools, newCallId, skipSpecialTokens });
}
