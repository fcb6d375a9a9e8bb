// Tools as the chat templates of Harmony take them: they join texts of a tool that need not be there, or be texts.

import { isObject } from '@llmservice/checkpoint';

type Fields = Readonly<Record<string, unknown>>;

/** @param tools as the client gave them */
export const harmonyTools = (tools: readonly unknown[]): readonly unknown[] =>
  tools.map((tool) =>
    isObject(tool) && isObject(tool['function']) ? { ...tool, function: described(tool['function']) } : tool,
  );

function described({ parameters, ...others }: Fields): Fields {
  const properties = isObject(parameters) ? parameters['properties'] : null;
  return {
    ...others,
    description: others['description'] ?? '',
    ...(isObject(parameters) && isObject(properties)
      ? { parameters: { ...parameters, properties: withTextDefaults(properties) } }
      : { parameters }),
  };
}

/** Of what has choices, the default is joined to a text. */
const withTextDefaults = (properties: Fields): Fields =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      if (!isObject(property) || property['default'] === undefined) return [name, property];
      const isJoined = Array.isArray(property['enum']) || Array.isArray(property['oneOf']);
      const { default: given } = property;
      return [
        name,
        isJoined && typeof given !== 'string' ? { ...property, default: JSON.stringify(given) } : property,
      ];
    }),
  );
