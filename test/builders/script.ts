// What a scripted model says and when: its answers as tokens, each of one successor, and the chat template that ends a
// prompt with the token before the answer that is due.

export interface Script {
  /** Answers to requests with tools: the n-th after n results of tools, the last one from then on. */
  readonly turns: readonly string[];
  /** The answer to requests without tools. */
  readonly aside: string;
}

export interface ScriptToken {
  readonly content: string;
  /** Stands before an answer, at the end of a prompt; no part of any text. */
  readonly opens: boolean;
  /** Nothing follows but the end of the answer. */
  readonly closes: boolean;
}

/** A call as Qwen's chat templates write it, and the grammar of calls that a request requires. */
export function toolCall(name: string, args: object): string {
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${JSON.stringify(args)}}\n</tool_call>`;
}

const minPiece = 4;
const opening = (answer: number): string => `<|answer-${String(answer)}|>`;

/** A text that ends so is completed with the aside. */
export const asideOpening = opening(0);

/**
 * Of all answers, one after the other, each token followed by its successor.
 * @param taken what is a token already: a second one of its content would be the same
 */
export function scriptTokens({ aside, turns }: Script, taken: ReadonlySet<string>): readonly ScriptToken[] {
  const all = new Set(taken);
  return [aside, ...turns].flatMap((text, index) => {
    const pieces = piecesOf(text, all);
    for (const piece of pieces) all.add(piece);
    return [opening(index), ...pieces].map((content, place) => ({
      content,
      opens: place === 0,
      closes: place === pieces.length,
    }));
  });
}

/** In order, each of at least four characters and unlike all tokens before it. */
function piecesOf(text: string, taken: ReadonlySet<string>): readonly string[] {
  const pieces: string[] = [];
  const isTaken = (piece: string): boolean => taken.has(piece) || pieces.includes(piece);
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + minPiece, text.length);
    while (end < text.length && isTaken(text.slice(at, end))) end += 1;
    let piece = text.slice(at, end);
    // What is left at the end may be too short to be new.
    while (isTaken(piece)) {
      const before = pieces.pop();
      if (before === undefined) throw new Error(`a token already: ${JSON.stringify(piece)}`);
      piece = before + piece;
    }
    pieces.push(piece);
    at = end;
  }
  return pieces;
}

/** Qwen's markup; it shows the model all that clients send, though the scripted one reads the last token alone. */
export function scriptedTemplate({ turns }: Script): string {
  const due =
    turns.length === 0
      ? '{% set due = 0 %}'
      : "{% set results = messages | selectattr('role', 'equalto', 'tool') | list | length %}" +
        `{% set due = [results + 1, ${String(turns.length)}] | min if tools else 0 %}`;
  return [
    "{% if tools %}{{ '<|im_start|>system\\n# Tools\\n<tools>' }}",
    "{% for tool in tools %}{{ '\\n' }}{{ tool | tojson }}{% endfor %}",
    "{{ '\\n</tools><|im_end|>\\n' }}{% endif %}",
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content }}",
    '{% for call in message.tool_calls or [] %}',
    '{{ \'\\n<tool_call>\\n{"name": "\' + call.function.name + \'", "arguments": \' }}',
    "{{ call.function.arguments | tojson }}{{ '}\\n</tool_call>' }}{% endfor %}",
    "{{ '<|im_end|>\\n' }}{% endfor %}",
    `{% if add_generation_prompt %}${due}{{ '<|im_start|>assistant\\n<|answer-' ~ due ~ '|>' }}{% endif %}`,
  ].join('');
}
