// Images, sounds and files in conversations, by the words of Anthropic's and OpenAI's protocols and of vLLM's: the models
// served here read text, and a list of the types of block that pass would not say so.

import type { Fields } from '../body/field-table.js';
import { firstOf, invalidRequest, type Violation } from '../body/violation.js';

const media: Readonly<Record<string, string>> = {
  image: 'an image',
  input_image: 'an image',
  image_url: 'an image',
  image_embeds: 'an image',
  document: 'a document',
  input_file: 'a file',
  file: 'a file',
  input_audio: 'a sound',
  audio_url: 'a sound',
  video_url: 'a video',
};

/** Lists within lists: messages, their blocks, and those of a tool's result. */
const levels = 3;

/**
 * @param list as the client sent it, whatever it is
 * @param path of the list in the body
 * @throws ApiError invalid_request
 */
export function refuseMedia(list: unknown, path: string): void {
  if (!Array.isArray(list)) return;
  const violations = firstOf(mediaIn(list, path, levels));
  if (violations.length > 0) throw invalidRequest(violations);
}

/** Of Anthropic's: a text by another name, or a document that the schema finds to have no source. */
const isTextDocument = (type: unknown, source: unknown): boolean =>
  type === 'document' && ['text', undefined].includes((source as { type?: string } | null | undefined)?.type);

/** Messages and results of tools have content; OpenAI's results have output. */
function* mediaIn(list: readonly unknown[], path: string, levels: number): Generator<Violation> {
  if (levels === 0) return;
  for (const [index, each] of list.entries()) {
    if (typeof each !== 'object' || each === null) continue;
    const { type, content, output, source } = each as Fields;
    const param = `${path}.${String(index)}`;
    const word = typeof type === 'string' && Object.hasOwn(media, type) ? media[type] : undefined;
    if (word !== undefined && !isTextDocument(type, source)) {
      yield { param, message: `${param} is ${word}, and the model reads text only: send its text` };
      continue;
    }
    if (Array.isArray(content)) yield* mediaIn(content, `${param}.content`, levels - 1);
    if (Array.isArray(output)) yield* mediaIn(output, `${param}.output`, levels - 1);
  }
}
