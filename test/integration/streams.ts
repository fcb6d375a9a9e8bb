// Streams of a replica: one that lasts, and what any of them says.

/** Of the engine of a replica that is asked for endless streams. */
export const longContext = { maxModelLen: 4096 };

/** Runs until the end of that context, for seconds: longer than a test takes to do something to it. */
export const endless = { prompt: 'The capital of', max_tokens: 4000, ignore_eos: true, stream: true };

/** The events of a stream, once it has ended. */
export async function lines(response: Response): Promise<string[]> {
  return (await response.text())
    .split('\n\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));
}
