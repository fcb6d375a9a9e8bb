// Grammars: what is compiled, within which limits, and what an answer is held to.

import type { ReasoningIds } from './reasoning.js';
import type { Float64, Int64 } from './numbers.js';

/**
 * `json`: any JSON object, no text; `jsonSchema`; `regex`: of the whole answer; `ebnf`: rules from `root`, as XGrammar
 * writes them; `format`: of XGrammar's structural tags; `toolCalls`: calls between marker tokens, as JSON (ToolCallsText).
 */
export type GrammarKind = 'json' | 'jsonSchema' | 'regex' | 'ebnf' | 'format' | 'toolCalls';

/** What a grammar of kind `toolCalls` is, as JSON. Formats are those of XGrammar's structural tags. */
export interface ToolCallsText {
  /**
   * Ids around each call; they stand for no text elsewhere. `begin` null: the answer is the body, and nothing else of this
   * counts but `within`. `end` null: a call ends where its body may.
   */
  readonly begin: number | null;
  readonly end: number | null;
  /** Ids within calls, and the one-byte text that stands for each in the body, which has it nowhere else. */
  readonly within: readonly { readonly id: number; readonly text: string }[];
  /** Of the text between begin and end. */
  readonly body: object;
  /** What an answer may be besides calls: nothing, anything, or instead of calls a text of a format. */
  readonly otherwise: null | true | object;
  /** Whether several calls may follow each other. */
  readonly many: boolean;
}

declare const compiledGrammar: unique symbol;
/** A grammar over one vocabulary, in native memory until it is collected. */
export interface CompiledGrammar {
  readonly [compiledGrammar]: true;
}

/** What the ids of a model stand for. */
export interface Vocabulary {
  /** Bytes of all ids, one after the other. */
  readonly bytes: Uint8Array;
  /** (V) end of each id's bytes. An id without bytes is no text: no grammar has it. */
  readonly ends: Uint32Array;
  /** Ids that end a text, where a grammar may end. */
  readonly stopTokens: Int32Array;
}

export interface Constraint {
  readonly grammar: CompiledGrammar;
  /** The grammar is of what follows reasoning, which a model may or may not begin itself; null: of all that it says. */
  readonly after: AwaitedReasoning | null;
}

export interface AwaitedReasoning extends ReasoningIds {
  /** What would end the whole, and may not come within. */
  readonly stops: Int32Array;
}

/** What one compilation may take. */
export interface CompileLimits {
  readonly cpuSeconds: Float64;
  /** Where others have the processors. */
  readonly wallSeconds: Float64;
  /** Without any processor time. */
  readonly stallSeconds: Float64;
  /** Beyond what the process has when it begins. */
  readonly memoryBytes: Int64;
  readonly resultBytes: Int64;
}

/** How a compilation ended. */
export interface CompileOutcome {
  readonly end: CompileEnd;
  /** Why, where there is more to say: of an invalid one for the client. */
  readonly message: string;
  /** That the file begins with, of a compiled one. */
  readonly bytes: number;
}

/**
 * `overTime`: of processor time, or of wall time in which it had more than half of that; `starved`: of wall time, in which
 * it had less; `overMemory`: of the work or of its result; `crashed`: in the compiler, and would again; `lost`: by no fault
 * of the grammar; `killed`: by `kill`.
 */
export type CompileEnd =
  'compiled' | 'invalid' | 'overTime' | 'starved' | 'overMemory' | 'crashed' | 'lost' | 'killed';

export interface Compilation {
  readonly outcome: Promise<CompileOutcome>;
  /** Idempotent. */
  kill(): void;
  /** Processor time that it has taken so far. */
  cpuSeconds(): number;
}

/** Files are descriptors that `makeMemoryFile` gave here or in the parent process. */
export interface GrammarCompiler {
  /** Makes here what most grammars share, so that the compilations that follow need not. Takes a part of a second. */
  warm(): void;
  /**
   * Compiles in a process of its own, a fork of this one, which should be small and do nothing else: what it takes is
   * bounded, it may be killed, and it ends with this process. The file is its alone meanwhile.
   */
  compileApart(kind: GrammarKind, text: string, file: number, limits: CompileLimits): Compilation;
  /** What `compileApart` wrote, with the same kind and text, for a compiler of the same vocabulary. Takes milliseconds. */
  read(kind: GrammarKind, text: string, file: number, bytes: number): Promise<CompiledGrammar>;
}
