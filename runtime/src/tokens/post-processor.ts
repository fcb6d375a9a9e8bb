// The one rule of tokenizer.json whose breach ends the whole process in the reference implementation, at the first text:
// a template may name no special token that it does not define.

/** The part of `post_processor` that is looked at; anything may stand in the file. */
export interface PostProcessor {
  readonly type?: unknown;
  /** Of a `Sequence`. */
  readonly processors?: unknown;
  /** Of a `TemplateProcessing`: how one text is framed, and two. */
  readonly single?: unknown;
  readonly pair?: unknown;
  readonly special_tokens?: unknown;
}

/** Ids that templates name and do not define. */
export function undefinedSpecialTokens(processor: PostProcessor | null | undefined): string[] {
  if (typeof processor !== 'object' || processor === null) return [];
  const nested = listOf(processor.processors).flatMap((each) =>
    undefinedSpecialTokens(each as PostProcessor),
  );
  const defined = Object(processor.special_tokens) as object;
  const named = [...listOf(processor.single), ...listOf(processor.pair)].flatMap(
    (piece) => (piece as { SpecialToken?: { id?: unknown } } | null)?.SpecialToken?.id ?? [],
  );
  return [...nested, ...named.map(String).filter((id) => !Object.hasOwn(defined, id))];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
