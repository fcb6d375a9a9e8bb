// Server-sent events as text.

/** An event without a name, as OpenAI's chat and completions have them. */
export const plainEvent = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

/** Data that name their type. */
export interface TypedData {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** An event that is named as its data are. */
export const typedEvent = (data: TypedData): string => `event: ${data.type}\n${plainEvent(data)}`;

/** Ends a stream of events without names. */
export const doneEvent = 'data: [DONE]\n\n';

/** What clients skip. */
export const commentEvent = ': still working\n\n';
