// Several generations of one request as one stream, in the order in which their parts arrive.

interface Arrived<T> {
  readonly index: number;
  readonly source: AsyncIterator<T>;
  readonly part: Promise<IteratorResult<T>>;
}

/** Ends when all have ended; an error of one is the error of all. However it ends, it closes the sources. */
export async function* mergeAsync<T>(
  sources: readonly AsyncIterator<T>[],
): AsyncGenerator<{ readonly index: number; readonly value: T }> {
  const arrived: Arrived<T>[] = [];
  let wake = (): void => undefined;
  // Not by Promise.race, which leaves a reaction with each that has not come yet, part after part.
  const ask = (index: number, source: AsyncIterator<T>): void => {
    const part = source.next();
    const settled = (): void => {
      arrived.push({ index, source, part });
      wake();
    };
    part.then(settled, settled);
  };
  for (const [index, source] of sources.entries()) ask(index, source);
  let open = sources.length;
  try {
    while (open > 0) {
      const first = arrived.shift();
      if (first === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      const { index, source, part } = first;
      const result = await part;
      if (result.done === true) {
        open -= 1;
      } else {
        yield { index, value: result.value };
        ask(index, source);
      }
    }
  } finally {
    // Not awaited: one that is asked for its next part ends with whatever that waits for.
    for (const source of sources) source.return?.().catch(() => undefined);
  }
}
