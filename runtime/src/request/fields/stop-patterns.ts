// SGLang's stop_regex: regular expressions that end an answer, as automata of a bounded size.

import { NFA, TooManyNodesError, visitAst } from 'refa';
import { StopPattern } from '../../tokens/stop-pattern.js';
import { parsePattern, UnusablePattern } from '../json-schema/pattern-writer.js';
import { invalidRequest, violationAt } from '../body/violation.js';

/** Of all patterns of a request together: each character of an answer may cost as many. */
const maxTransitions = 2000;
const maxStates = 500;
const tooLarge =
  'is too large with the patterns before it: repeat less, or send one pattern of what is alike';

/** @throws ApiError invalid_request about a pattern that cannot be searched for */
export function readStopPatterns(asked: string | readonly string[]): StopPattern[] {
  const sources = typeof asked === 'string' ? [asked] : asked;
  let left = maxTransitions;
  return sources.map((source, index) => {
    try {
      const automaton = automatonOf(source);
      for (const { out } of automaton.nodes()) left -= out.size;
      if (left < 0) throw new UnusablePattern(tooLarge);
      return new StopPattern(source, automaton);
    } catch (error) {
      if (!(error instanceof UnusablePattern)) throw error;
      const path = typeof asked === 'string' ? 'stop_regex' : `stop_regex.${String(index)}`;
      throw invalidRequest([violationAt(path, error.message)]);
    }
  });
}

function refuseAssertion(): never {
  throw new UnusablePattern('looks around, or has ^, $ or \\b: say what the text is that ends the answer');
}

/** @throws UnusablePattern saying why */
function automatonOf(source: string): NFA {
  try {
    const { expression, maxCharacter } = parsePattern(source);
    visitAst(expression, { onAssertionEnter: refuseAssertion });
    const limited = new NFA.LimitedNodeFactory(maxStates);
    const automaton = NFA.fromRegex(expression, { maxCharacter }, { assertions: 'throw' }, limited);
    if (automaton.finals.has(automaton.initial))
      throw new UnusablePattern('matches an empty text, and so every answer before it begins');
    if (automaton.isEmpty) throw new UnusablePattern('matches no text');
    return automaton;
  } catch (error) {
    // A thousand groups within each other take all of the stack.
    if (error instanceof TooManyNodesError || error instanceof RangeError)
      throw new UnusablePattern(tooLarge);
    throw error;
  }
}
