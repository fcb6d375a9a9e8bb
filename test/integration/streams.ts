// Streams of a replica: one that lasts, and what any of them says.

/** Runs until the context's end. */
export const endless = { prompt: 'The capital of', max_tokens: 1000, ignore_eos: true, stream: true };

/** The events of a stream, once it has ended. */
export async function lines(response: Response): Promise<string[]> {
  return (await response.text())
    .split('\n\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice(6));
}
