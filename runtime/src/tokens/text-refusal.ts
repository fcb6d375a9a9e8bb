/** A text that the tokenizer cannot take within the limits of time and memory: a fault of the request. */
export class TextRefusal extends Error {
  override readonly name = 'TextRefusal';
}
