// Several generations of one request as one stream, in the order in which their parts arrive.

/** Ends when all have ended; an error of one is the error of all. Sources are closed by whoever opened them. */
export async function* mergeAsync<T>(
  sources: readonly AsyncIterator<T>[],
): AsyncGenerator<{ readonly index: number; readonly value: T }> {
  const next = async (index: number): Promise<{ index: number; result: IteratorResult<T> }> => {
    const source = sources[index];
    if (source === undefined) throw new RangeError(`no source ${String(index)}`);
    return { index, result: await source.next() };
  };
  const pending = new Map(sources.map((_, index) => [index, next(index)]));
  while (pending.size > 0) {
    const { index, result } = await Promise.race(pending.values());
    if (result.done === true) {
      pending.delete(index);
    } else {
      yield { index, value: result.value };
      pending.set(index, next(index));
    }
  }
}
