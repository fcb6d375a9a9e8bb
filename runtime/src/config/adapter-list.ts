// The list of adapters that a service has, as its file says: [{"name", "uri"}, …].

import { checkAdapterName, placeOf, type NamedAdapter } from './adapter-settings.js';

/** As many as an engine takes. */
const maxAdapters = 256;

/** @throws Error that says what was expected, and where */
export function parseAdapterList(text: string): NamedAdapter[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error('expected a list of {"name", "uri"}');
  if (list.length > maxAdapters) {
    throw new Error(`there are ${String(list.length)} adapters; at most ${String(maxAdapters)} are read`);
  }
  const adapters = list.map((entry: unknown, at) => asAdapter(entry, `[${String(at)}]`));
  const names = adapters.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`the name ${JSON.stringify(twice)} is there twice`);
  return adapters;
}

function asAdapter(entry: unknown, place: string): NamedAdapter {
  const { name, uri } = (entry ?? {}) as Partial<Record<'name' | 'uri', unknown>>;
  if (typeof name !== 'string' || typeof uri !== 'string' || uri === '') {
    throw new Error(`${place}: expected {"name", "uri"}, both texts`);
  }
  checkAdapterName(name);
  return { name, uri: placeOf(uri) };
}
