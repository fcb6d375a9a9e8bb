// Server-sent events as text.

/** An event without a name, as OpenAI's chat and completions have them. */
export const plainEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

/** An event that is named as its data is. */
export const typedEvent = (data: { readonly type: string }): string =>
  `event: ${data.type}\n${plainEvent(data)}`;

/** Ends a stream of events without names. */
export const doneEvent = 'data: [DONE]\n\n';

/** What clients skip. */
export const commentEvent = ': still working\n\n';
