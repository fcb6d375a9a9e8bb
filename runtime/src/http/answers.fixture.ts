// What tests check of the answers of any route, whole or streamed.

export interface Answer {
  readonly choices: readonly {
    readonly index: number;
    readonly text: string;
    readonly delta: {
      readonly role?: string;
      readonly content?: string;
      readonly reasoning?: string;
      readonly tool_calls?: readonly object[];
    };
    readonly finish_reason: string | null;
  }[];
  /** Of a chunk only where it was asked for. */
  readonly usage?: { readonly completion_tokens: number } | null;
  readonly error: { readonly message: string };
  readonly predictions: readonly { readonly response: string; readonly model_name: string }[];
}

export const json = async (response: Response): Promise<Answer> => (await response.json()) as Answer;

/** Stands for the line that ends a stream. */
export const streamEnd = { choices: [] as Answer['choices'], end: true } as unknown as Answer;

/** The events of a stream, once it has ended. */
export async function events(response: Response): Promise<Answer[]> {
  const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
  return lines.map((line) =>
    line === 'data: [DONE]' ? streamEnd : (JSON.parse(line.slice('data: '.length)) as Answer),
  );
}
