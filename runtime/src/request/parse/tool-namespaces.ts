// The tools of OpenAI's Responses as functions. It groups some in namespaces: agents have one for each MCP server. The model
// knows such a function by one name, and the client by two. A custom tool is a function with one text as argument.

import type { Wording } from '../body/api-error.js';
import { invalidRequest, violationAt } from '../body/violation.js';
import { functionOf } from '../fields/custom-tools.js';
import type { RawFunction, RawTool } from '../fields/responses-tools.js';

/** A function as the client calls it. */
interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

export interface FlatTools {
  /** By the names that the model calls them by. */
  readonly functions: readonly RawFunction[];
  /** Of those in namespaces. */
  readonly namespaced: ReadonlyMap<string, NamespacedName>;
  /** Names of the custom tools. */
  readonly custom: ReadonlySet<string>;
  /** Where each function stands in the body. */
  readonly places: readonly Wording[];
}

/** OpenAI's bound on a list of tools, of all of them. */
const maxFunctions = 128;

export const flatName = (name: string, namespace: string | null | undefined): string =>
  typeof namespace === 'string' ? `${namespace}__${name}` : name;

/** @throws ApiError invalid_request */
export function flatTools(tools: readonly RawTool[]): FlatTools {
  const functions: RawFunction[] = [];
  const namespaced = new Map<string, NamespacedName>();
  const custom = new Set<string>();
  const places: Wording[] = [];
  const add = (tool: RawFunction, place: string): void => {
    const ours = new RegExp(`\\btools\\.${String(functions.length)}\\.function\\b`, 'g');
    places.push({ ours, theirs: place });
    functions.push(tool);
  };
  for (const [index, tool] of tools.entries()) {
    const place = `tools.${String(index)}`;
    if (tool.type === 'function') add(tool, place);
    else if (tool.type === 'custom') {
      custom.add(tool.name);
      add({ type: 'function', ...functionOf(tool) }, place);
    } else
      for (const [at, { name, description, ...inside }] of tool.tools.entries()) {
        const flat = flatName(name, tool.name);
        namespaced.set(flat, { namespace: tool.name, name });
        const described = [tool.description, description].filter(Boolean).join('\n');
        add({ ...inside, name: flat, description: described }, `${place}.tools.${String(at)}`);
      }
  }
  if (functions.length > maxFunctions) {
    const rule = `has ${String(functions.length)} functions; the most are ${String(maxFunctions)}`;
    throw invalidRequest([violationAt('tools', rule)]);
  }
  return { functions, namespaced, custom, places };
}
