// Whether an adapter says that it was made for another model than the one it is served with. Equal shapes do not show it, and
// quantized copies of the same model have other names, so that it is said and nothing is refused: vLLM serves such adapters too.

import { adapterConfigFile } from '@llmservice/checkpoint';
import { parseHubUri } from '@llmservice/checkpoint/hub';
import { readSmallJson } from '../checkpoint/read-small-json.js';

/**
 * What its base_model_name_or_path names. Null: the same, or one of the two is not known by the hub's name.
 * @param folder of the adapter
 * @param model URI
 */
export async function otherBase(folder: string, model: string): Promise<string | null> {
  const place = parseHubUri(model);
  if (place === null) return null;
  // What cannot be read is refused where it is loaded.
  const config = await readSmallJson(folder, adapterConfigFile).catch(() => null);
  const named = config?.['base_model_name_or_path'];
  if (typeof named !== 'string') return null;
  // Paths of two parts look the same, but those that begin with dots.
  const { repository } = parseHubUri(`hf://${named}`) ?? {};
  if (repository !== named) return null;
  return named.toLowerCase() === place.repository.toLowerCase() ? null : named;
}
