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
  files: { client: 'openai', file: 'files.d.ts', name: 'FileCreateParams' },
  batches: { client: 'openai', file: 'batches.d.ts', name: 'BatchCreateParams' },
} as const;

export type ClientKind = keyof typeof declarations;

/** A place of a body that takes one of several words. */
export interface ClientWords {
  readonly kind: ClientKind;
  readonly place: string;
  /** That the client's types have. */
  readonly words: readonly string[];
  /** A body with a word there. */
  readonly body: (word: string) => object;
}

interface Kinds {
  readonly kind: ClientKind;
  /** Of the client's types, whose members differ by the last name of the place. */
  readonly union: string;
  readonly place: string;
  readonly body: (word: string) => object;
}

/** Lists whose entries are of several kinds. */
const lists: readonly Kinds[] = [
  {
    kind: 'chat',
    union: 'ChatCompletionMessageParam',
    place: 'messages.0.role',
    body: (role) => ({ messages: [{ role, content: 'x' }] }),
  },
  {
    kind: 'chat',
    union: 'ChatCompletionContentPart',
    place: 'messages.0.content.0.type',
    body: (type) => ({ messages: [{ role: 'user', content: [{ type, text: 'x' }] }] }),
  },
  {
    kind: 'chat',
    union: 'ChatCompletionTool',
    place: 'tools.0.type',
    body: (type) => ({ tools: [{ type }] }),
  },
  {
    kind: 'responses',
    union: 'ResponseInputItem',
    place: 'input.0.type',
    body: (type) => ({ input: [{ type }] }),
  },
  {
    kind: 'responses',
    union: 'ResponseInputContent',
    place: 'input.0.content.0.type',
    body: (type) => ({ input: [{ role: 'user', content: [{ type, text: 'x' }] }] }),
  },
  { kind: 'responses', union: 'Tool', place: 'tools.0.type', body: (type) => ({ tools: [{ type }] }) },
  {
    kind: 'messages',
    union: 'ContentBlockParam',
    place: 'messages.0.content.0.type',
    body: (type) => ({ messages: [{ role: 'user', content: [{ type, text: 'x' }] }] }),
  },
  { kind: 'messages', union: 'ToolUnion', place: 'tools.0.type', body: (type) => ({ tools: [{ type }] }) },
];

const { resolve } = createRequire(import.meta.url);
const kinds = Object.keys(declarations) as ClientKind[];

/** The types of the clients' bodies, compiled once. */
export class ClientTypes {
  private readonly program = ts.createProgram(kinds.map(pathOf), { types: [], lib: ['lib.es2023.d.ts'] });
  private readonly checker = this.program.getTypeChecker();

  /** Names of the fields of each body, inherited ones included. */
  fields(): Readonly<Record<ClientKind, readonly string[]>> {
    const names = (kind: ClientKind): string[] => this.fieldsOf(kind).map(({ name }) => name);
    return Object.fromEntries(kinds.map((kind) => [kind, names(kind)])) as Record<ClientKind, string[]>;
  }

  /** Fields that are words, members and entries of fields that are, and the words that name kinds of entries of lists. */
  words(): ClientWords[] {
    const fields = kinds.flatMap((kind) => this.fieldsOf(kind).flatMap((field) => this.wordsIn(kind, field)));
    const entries = lists.map(({ kind, union, place, body }): ClientWords => {
      const member = place.split('.').at(-1) ?? '';
      const types = alternativesOf(this.declared(kind, union)).flatMap((type) => {
        const found = type.getProperty(member);
        return found === undefined ? [] : wordsOf(this.checker.getTypeOfSymbol(found));
      });
      return { kind, place, words: [...new Set(types)], body };
    });
    return [...fields, ...entries].filter(({ words }) => words.length > 0);
  }

  private wordsIn(kind: ClientKind, field: ts.Symbol): ClientWords[] {
    const { name } = field;
    const type = this.checker.getTypeOfSymbol(field);
    const words = wordsOf(type);
    if (words.length > 0) return [{ kind, place: name, words, body: (word) => ({ [name]: word }) }];
    const entry = this.checker.getIndexTypeOfType(type, ts.IndexKind.Number);
    if (entry !== undefined)
      return [{ kind, place: `${name}.0`, words: wordsOf(entry), body: (word) => ({ [name]: [word] }) }];
    return type.getProperties().map((member) => ({
      kind,
      place: `${name}.${member.name}`,
      words: wordsOf(this.checker.getTypeOfSymbol(member)),
      body: (word) => ({ [name]: { [member.name]: word } }),
    }));
  }

  private fieldsOf(kind: ClientKind): ts.Symbol[] {
    return this.declared(kind, declarations[kind].name).getProperties();
  }

  private declared(kind: ClientKind, name: string): ts.Type {
    const found = this.program
      .getSourceFile(pathOf(kind))
      ?.statements.find(
        (each): each is ts.InterfaceDeclaration | ts.TypeAliasDeclaration =>
          (ts.isInterfaceDeclaration(each) || ts.isTypeAliasDeclaration(each)) && each.name.text === name,
      );
    if (found === undefined) throw new Error(`${pathOf(kind)} declares no ${name}`);
    return this.checker.getTypeAtLocation(found);
  }
}

function pathOf(kind: ClientKind): string {
  const { client, file } = declarations[kind];
  return join(dirname(resolve(client)), 'resources', file);
}

const alternativesOf = (type: ts.Type): readonly ts.Type[] => (type.isUnion() ? type.types : [type]);

/** Of a type that takes no other texts. */
function wordsOf(type: ts.Type): string[] {
  const alternatives = alternativesOf(type);
  const isOpen = alternatives.some(
    (each) => each.isIntersection() || (each.flags & ts.TypeFlags.String) !== 0,
  );
  return isOpen ? [] : alternatives.flatMap((each) => (each.isStringLiteral() ? [each.value] : []));
}
