// JSON against the types of OpenAI's and Anthropic's own Node clients, by the compiler that their users have.

import { join } from 'node:path';
import ts from 'typescript';

export interface Typed {
  /** As TypeScript writes it. */
  readonly type: string;
  readonly value: unknown;
}

const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

const head = `import type OpenAI from 'openai';
import type Anthropic from '@anthropic-ai/sdk';
// The client makes output_text itself. OpenAI sends null where the types have no usage or user.
type Whole = OpenAI.Responses.Response;
type Response = Omit<Whole, 'output_text' | 'usage' | 'user'> & {
  usage: Whole['usage'] | null;
  user: Whole['user'] | null;
};
type Sent<Event> = Event extends { response: Whole }
  ? Omit<Event, 'response'> & { response: Response }
  : Event;
type ResponseEvent = Sent<OpenAI.Responses.ResponseStreamEvent>;
// Members that the types do not know are no errors: a type parameter takes them.
declare function take<Type>(): <Value extends Type>(value: Value) => void;
`;

/** What the compiler says of values that are not of their types, each thing once. */
export function typeErrors(all: readonly Typed[]): string[] {
  const lines = all.map(({ type, value }) => `take<${type}>()(${JSON.stringify(value)});\n`);
  const path = join(import.meta.dirname, 'answers.generated.ts');
  const source = ts.createSourceFile(path, head + lines.join(''), ts.ScriptTarget.ES2023);
  const files = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...files,
    fileExists: (name) => name === path || files.fileExists(name),
    getSourceFile: (name, ...more) => (name === path ? source : files.getSourceFile(name, ...more)),
  };
  const program = ts.createProgram([path], options, host);
  const errors = program.getSemanticDiagnostics(source).map(({ messageText, start = 0 }) => {
    const [line = ''] = source.text.slice(source.text.lastIndexOf('\n', start) + 1).split(')', 1);
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  return [...new Set(errors)];
}
