// A tool as a request describes it, and a call of one as it is reported while the model writes it.

/** A JSON schema that is an object. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  /** Of the arguments; null: it takes none. */
  readonly parameters: Schema | null;
  /** Whether arguments must follow the schema to the letter. */
  readonly strict: boolean;
}

/** Which tools an answer may call, and must. */
export interface ToolUse {
  readonly tools: readonly Tool[];
  /** `auto`: the model decides; `required`: one at the least; else the name of the one to call. */
  readonly choice: 'auto' | 'required' | { readonly name: string };
  /** Whether an answer may have several calls. */
  readonly parallel: boolean;
}

/** What a piece of generated text adds to one call. */
export interface ToolCallDelta {
  /** Of the call in its answer, from 0. */
  readonly index: number;
  /** With the first delta of a call, and no other. */
  readonly start: { readonly id: string; readonly name: string } | null;
  /** More of the text of the arguments: all of a call together are what the call has when read whole. */
  readonly arguments: string;
  /** Whether they are the input of a custom tool; absent: no. */
  readonly isInput?: boolean;
}

/** Where the parts of a call go, in order. */
export interface CallSink {
  begin(name: string): void;
  arguments(fragment: string): void;
}

/** What is known of the calls of one block that are to be read. */
export interface CallReading {
  readonly sink: CallSink;
  /** Whether a name is one of a tool; any other makes the block text. */
  readonly accepts: (name: string) => boolean;
  /** The schema of a tool's arguments. */
  readonly parametersOf: (name: string) => Schema | null;
  /** Whether an answer may have several calls. */
  readonly many: boolean;
}

/** Reads what stands inside of one block of calls, in whatever pieces it comes. */
export interface CallBody {
  /** `undecided` until a call is sure, which then stays one; `text`: it is no call. */
  readonly state: 'undecided' | 'call' | 'text';
  /** Whether what comes is inside of a text, which may quote a marker. */
  readonly quotes: boolean;
  /** Whether what came is whole calls, and nothing is missing but the marker that ends them. */
  readonly isWhole: boolean;
  /** Gives back what follows the end of the calls; null: they have not ended. */
  push(text: string): string | null;
  /** The block ends. `cut`: by a limit, not by the model. */
  end(cut: boolean): void;
  /** Another of the same state, which reports to the same sink. */
  copy(): CallBody;
}

/** Reads the arguments of one call, behind its name. */
export interface ArgumentsBody extends Pick<CallBody, 'quotes' | 'push' | 'end'> {
  copy(): ArgumentsBody;
}
