// How one model writes calls of tools: a form, with its markers as the model's vocabulary has them.

import { callForms, type CallForm, type CallFormName } from './call-forms.js';

/** What stands around a block of calls, or between its parts. */
export interface Marker {
  readonly text: string;
  /** The one token that it is: then its letters, spelled with other tokens, are prose. Null: the vocabulary has none. */
  readonly id: number | null;
  /** Whether its text is left out of answers like that of other control tokens. */
  readonly isSpecial: boolean;
}

export interface ToolDialect extends Omit<CallForm, 'begin' | 'end' | 'within'> {
  readonly kind: CallFormName;
  readonly begin: Marker;
  readonly end: Marker | null;
  readonly within: readonly Marker[];
}

/** What a tokenizer knows of markers. */
export interface MarkerTokens {
  tokenId(text: string): number | null;
  isSpecial(id: number): boolean;
}

export const callFormNames = Object.keys(callForms) as readonly CallFormName[];

/** The forms that each parser of vLLM reads. Which of several it is, the chat template shows, or else the vocabulary. */
export const toolCallParsers: ReadonlyMap<string, readonly CallFormName[]> = new Map(
  callFormNames
    .flatMap((kind) => callForms[kind].parsers)
    .map((parser) => [parser, callFormNames.filter((kind) => callForms[kind].parsers.includes(parser))]),
);

export function dialectOf(kind: CallFormName, tokens: MarkerTokens): ToolDialect {
  const form = callForms[kind];
  const marker = (text: string): Marker => {
    const id = tokens.tokenId(text);
    return { text, id, isSpecial: id !== null && tokens.isSpecial(id) };
  };
  const { begin, end, within } = form;
  return {
    ...form,
    kind,
    begin: marker(begin),
    end: end === null ? null : marker(end),
    within: within.map(marker),
  };
}

/**
 * @param parser one of `toolCallParsers`
 * @param probed what the chat template shows
 */
export function dialectOfParser(
  parser: string,
  probed: ToolDialect | null,
  tokens: MarkerTokens,
): ToolDialect | null {
  if (probed?.parsers.includes(parser) === true) return probed;
  const kinds = toolCallParsers.get(parser) ?? [];
  const kind = kinds.find((each) => hasTokens(each, tokens)) ?? kinds.at(-1);
  return kind === undefined ? null : dialectOf(kind, tokens);
}

/** Whether the vocabulary has what those of models that write so have. */
export const hasTokens = (kind: CallFormName, tokens: MarkerTokens): boolean =>
  callForms[kind].needs.every((text) => tokens.tokenId(text) !== null);
