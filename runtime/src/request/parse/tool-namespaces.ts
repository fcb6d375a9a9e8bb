// The tools of OpenAI's Responses as functions. It groups some in namespaces: agents have one for each MCP server. The model
// knows such a function by one name, and the client by two. A custom tool is a function with one text as argument.

import type { Wording } from '../body/api-error.js';
import { invalidRequest, violationAt } from '../body/violation.js';
import { functionOf, patternOfInput } from '../fields/custom-tools.js';
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
  const stands = (path: string, theirs: string): void => {
    const ours = `tools.${String(functions.length)}.${path}`.replaceAll('.', '\\.');
    places.push({ ours: new RegExp(`\\b${ours}\\b`, 'g'), theirs });
  };
  const add = (tool: RawFunction, place: string): void => {
    stands('function', place);
    functions.push(tool);
  };
  for (const [index, tool] of tools.entries()) {
    const place = `tools.${String(index)}`;
    if (tool.type === 'function') add(tool, place);
    else if (tool.type === 'custom') {
      custom.add(tool.name);
      stands(`function.${patternOfInput}`, `${place}.format.definition`);
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
