// JSON that is to be written again as it was: JavaScript's numbers have neither all digits of a long one nor a written .0.

/** What TypeScript's library does not describe yet: ECMAScript's proposal "JSON.parse source text access". */
interface SourceJson {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  /** Stands for a scalar's text when it is written. */
  rawJSON(text: string): RawNumber;
  isRawJSON(value: object): value is RawNumber;
}

interface RawNumber {
  readonly rawJSON: string;
}

const sourceJson = JSON as unknown as SourceJson;

/**
 * A value for `JSON.stringify`: numbers that would be written otherwise are not numbers in it.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  return sourceJson.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? sourceJson.rawJSON(source)
      : value,
  );
}

/** A number of `parseExactly` as it was written; null: the value is another. */
export const textOfNumber = (value: object): string | null =>
  sourceJson.isRawJSON(value) ? value.rawJSON : null;
