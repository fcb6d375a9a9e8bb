// The fields of OpenAI's and Anthropic's requests, read from the types of their own Node clients: a new version of one
// brings its new fields along.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Where each route's body is declared. */
const declarations = {
  chat: {
    client: 'openai',
    file: 'chat/completions/completions.d.ts',
    name: 'ChatCompletionCreateParamsBase',
  },
  completions: { client: 'openai', file: 'completions.d.ts', name: 'CompletionCreateParamsBase' },
  embeddings: { client: 'openai', file: 'embeddings.d.ts', name: 'EmbeddingCreateParams' },
  responses: { client: 'openai', file: 'responses/responses.d.ts', name: 'ResponseCreateParamsBase' },
  messages: {
    client: '@anthropic-ai/sdk',
    file: 'messages/messages.d.ts',
    name: 'MessageCreateParamsBase',
  },
} as const;

export type ClientKind = keyof typeof declarations;

const { resolve } = createRequire(import.meta.url);

/** Names of the fields of each body, inherited ones included. */
export function clientFields(): Readonly<Record<ClientKind, readonly string[]>> {
  const pathOf = (kind: ClientKind): string =>
    join(dirname(resolve(declarations[kind].client)), 'resources', declarations[kind].file);
  const kinds = Object.keys(declarations) as ClientKind[];
  const program = ts.createProgram(kinds.map(pathOf), { types: [], lib: ['lib.es2023.d.ts'] });
  const checker = program.getTypeChecker();
  const fieldsOf = (kind: ClientKind): string[] => {
    const { name } = declarations[kind];
    const source = program.getSourceFile(pathOf(kind));
    const found = source?.statements.find(
      (each): each is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(each) && each.name.text === name,
    );
    if (found === undefined) throw new Error(`${pathOf(kind)} declares no ${name}`);
    return checker
      .getTypeAtLocation(found)
      .getProperties()
      .map((property) => property.name);
  };
  return Object.fromEntries(kinds.map((kind) => [kind, fieldsOf(kind)])) as Record<ClientKind, string[]>;
}
