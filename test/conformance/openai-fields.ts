// The fields of OpenAI's requests, read from the types of their own Node client: a new version of it brings its new
// fields along.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Where each route's body is declared. */
const declarations = {
  chat: { file: 'chat/completions/completions.d.ts', name: 'ChatCompletionCreateParamsBase' },
  completions: { file: 'completions.d.ts', name: 'CompletionCreateParamsBase' },
  embeddings: { file: 'embeddings.d.ts', name: 'EmbeddingCreateParams' },
} as const;

export type OpenAiKind = keyof typeof declarations;

const folder = dirname(createRequire(import.meta.url).resolve('openai'));

/** Names of the fields of each body, inherited ones included. */
export function openAiFields(): Readonly<Record<OpenAiKind, readonly string[]>> {
  const pathOf = (kind: OpenAiKind): string => join(folder, 'resources', declarations[kind].file);
  const kinds = Object.keys(declarations) as OpenAiKind[];
  const program = ts.createProgram(kinds.map(pathOf), { types: [], lib: ['lib.es2023.d.ts'] });
  const checker = program.getTypeChecker();
  const fieldsOf = (kind: OpenAiKind): string[] => {
    const { name } = declarations[kind];
    const source = program.getSourceFile(pathOf(kind));
    const found = source?.statements.find(
      (each): each is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(each) && each.name.text === name,
    );
    if (found === undefined) throw new Error(`the openai package declares no ${name} in ${pathOf(kind)}`);
    return checker
      .getTypeAtLocation(found)
      .getProperties()
      .map((property) => property.name);
  };
  return { chat: fieldsOf('chat'), completions: fieldsOf('completions'), embeddings: fieldsOf('embeddings') };
}
