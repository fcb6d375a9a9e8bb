// Images, sounds and files in conversations, by the words of Anthropic's and OpenAI's protocols: the models served here
// read text, and a list of the types of block that pass would not say so.

import { invalidRequest, type Violation } from './validate-body.js';

const media: Readonly<Record<string, string>> = {
  image: 'an image',
  input_image: 'an image',
  document: 'a document',
  input_file: 'a file',
  input_audio: 'a sound',
};

/** @param path where the value is in the body; @throws ApiError invalid_request */
export function refuseMedia(value: unknown, path: string): void {
  const violations = mediaIn(value, path);
  if (violations.length > 0) throw invalidRequest(violations);
}

/** Messages have content, and so have results of tools in it; OpenAI's have output. */
function mediaIn(value: unknown, path: string): Violation[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => mediaIn(each, `${path}.${String(index)}`));
  if (typeof value !== 'object' || value === null) return [];
  const { type, content, output } = value as Readonly<Record<string, unknown>>;
  const word = typeof type === 'string' && Object.hasOwn(media, type) ? media[type] : undefined;
  if (word !== undefined)
    return [{ param: path, message: `${path} is ${word}, and the model reads text only: send its text` }];
  return [...mediaIn(content, `${path}.content`), ...mediaIn(output, `${path}.output`)];
}
