// Rules of tokenizer.json whose breach ends the whole process in the reference implementation, where others make an
// error: a template may name no special token that it does not define, and what a merge makes must be a token.

/** What is read of the file; anything may stand in it. */
interface CheckedFile {
  readonly model?: unknown;
  readonly post_processor?: unknown;
}

interface BpeModel {
  readonly vocab?: unknown;
  /** Of `a b`, or of [a, b]. */
  readonly merges?: unknown;
  /** What the second part of a merge loses when the two are joined. */
  readonly continuing_subword_prefix?: unknown;
}

interface PostProcessor {
  /** Of a `Sequence`. */
  readonly processors?: unknown;
  /** Of a `TemplateProcessing`: how one text is framed, and two. */
  readonly single?: unknown;
  readonly pair?: unknown;
  readonly special_tokens?: unknown;
}

/** The first breach, as the rest of a sentence about the file; null: there is none. */
export function fatalFlaw(file: unknown): string | null {
  const { model, post_processor: processor } = fieldsOf(file) as CheckedFile;
  const [token] = undefinedSpecialTokens(fieldsOf(processor));
  if (token !== undefined) {
    return `its post_processor names the special token ${token}, which it does not define`;
  }
  const merge = mergeWithoutToken(fieldsOf(model));
  return merge === null ? null : `its merge of ${merge} makes what is not in its vocabulary`;
}

/** Ids that templates name and do not define. */
function undefinedSpecialTokens(processor: PostProcessor): string[] {
  const nested = listOf(processor.processors).flatMap((each) => undefinedSpecialTokens(fieldsOf(each)));
  const defined = fieldsOf(processor.special_tokens);
  const named = [...listOf(processor.single), ...listOf(processor.pair)].flatMap(
    (piece) => (piece as { SpecialToken?: { id?: unknown } } | null)?.SpecialToken?.id ?? [],
  );
  return [...nested, ...named.map(String).filter((id) => !Object.hasOwn(defined, id))];
}

/** Null: there is none, or the file is none of byte pairs. */
function mergeWithoutToken({ vocab, merges, continuing_subword_prefix: prefix }: BpeModel): string | null {
  const tokens = fieldsOf(vocab);
  const lost = typeof prefix === 'string' ? prefix : '';
  for (const merge of listOf(merges)) {
    const parts: readonly unknown[] = typeof merge === 'string' ? merge.split(' ') : listOf(merge);
    const [first, second] = parts;
    // What is no merge at all raises an error.
    if (typeof first !== 'string' || typeof second !== 'string') continue;
    const isToken = second.startsWith(lost) && Object.hasOwn(tokens, first + second.slice(lost.length));
    if (!isToken) return `${JSON.stringify(first)} and ${JSON.stringify(second)}`;
  }
  return null;
}

function fieldsOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
