// How calls are written in XML: what stands around the names of functions, and around the names and values of parameters.

/** By XGrammar's names. */
export type XmlStyle = 'qwen_xml' | 'minimax_xml' | 'glm_xml';

interface XmlMarks {
  /** Around a function's name, and behind its parameters; null: a block is one function, and its name begins it. */
  readonly call: readonly [begin: string, endName: string, end: string] | null;
  readonly beginParameter: string;
  readonly endKey: string;
  /** Behind the end of the key, with or without space between; empty: the value begins there. */
  readonly beginValue: string;
  readonly endParameter: string;
  /** Whether one line break on either side of a value is none of it. */
  readonly isPadded: boolean;
}

export interface XmlSyntax extends XmlMarks {
  /** What may stand behind the end of a value: any other text shows that the value quotes it. */
  readonly behindValue: readonly string[];
  /** What ends a value, or may. */
  readonly valueEnds: readonly string[];
  /** A parameter on a line of its own, the name its first group. */
  readonly nextParameter: RegExp;
  /** What is none of a value if nothing, or the rest of such a line, comes behind it. */
  readonly openEnd: RegExp;
  /** Behind a value, where its own end is left out: the end of its function. */
  readonly endsFunction: RegExp;
  /** The same, or the line break before a block's end. */
  readonly lastEnd: RegExp;
}

/** Of a function or a parameter. */
export const longestName = 256;

function withEnds(marks: XmlMarks): XmlSyntax {
  const { call, beginParameter, endKey, endParameter } = marks;
  const functions = call === null ? [] : [call[2]];
  const name = (shortest: number): string => `[^>\\n]{${String(shortest)},${String(longestName)}}`;
  return {
    ...marks,
    behindValue: [beginParameter, ...(call === null ? [] : [call[2], call[0]]), endParameter],
    valueEnds: [endParameter, ...[endParameter, ...functions, beginParameter].map((end) => `\n${end}`)],
    nextParameter: new RegExp(`\\n${beginParameter}(${name(1)}?)${endKey}`, 'g'),
    openEnd: new RegExp(
      `\\n(?:${[...functions.map((end) => `${end}\\n?`), beginParameter + name(0)].join('|')})$`,
    ),
    endsFunction: new RegExp(call === null ? '(?!)' : `\\n${call[2]}\\n?$`),
    lastEnd: new RegExp(`${call === null ? '' : `(?:\\n${call[2]})?`}\\n?$`),
  };
}

export const xmlSyntaxes: Readonly<Record<XmlStyle, XmlSyntax>> = {
  qwen_xml: withEnds({
    call: ['<function=', '>', '</function>'],
    beginParameter: '<parameter=',
    endKey: '>',
    beginValue: '',
    endParameter: '</parameter>',
    isPadded: true,
  }),
  minimax_xml: withEnds({
    call: ['<invoke name="', '">', '</invoke>'],
    beginParameter: '<parameter name="',
    endKey: '">',
    beginValue: '',
    endParameter: '</parameter>',
    isPadded: false,
  }),
  glm_xml: withEnds({
    call: null,
    beginParameter: '<arg_key>',
    endKey: '</arg_key>',
    beginValue: '<arg_value>',
    endParameter: '</arg_value>',
    isPadded: false,
  }),
};
