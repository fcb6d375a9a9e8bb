// Renders a short conversation on the spot: a template is a program, so its work is counted, and one that would hold up
// other streams is given up for a thread to do. The count is of steps and of what they produce, not of time: equal
// conversations are always rendered at the same place.

import { Environment as JinjaEnvironment, Interpreter as JinjaInterpreter } from '@huggingface/jinja';

// The package's declarations name their files without extension, which Node's rules of resolution do not find.
interface Environment {
  set(name: string, value: unknown): void;
  resolve(name: string): Environment;
}
interface Value {
  readonly value: unknown;
}
interface Interpreter {
  evaluate(statement: unknown, environment: Environment): Value;
  run(program: unknown): Value;
}
const Environment = JinjaEnvironment as unknown as new () => Environment;
const Interpreter = JinjaInterpreter as unknown as new (environment: Environment) => Interpreter;

/** About three milliseconds; a chat of ten messages takes a tenth of the steps. */
const mostSteps = 8000;
/** Characters and elements that count as one step. */
const unitsPerStep = 64;
/** Of all strings, numbers and the like that a conversation consists of, and of its characters. */
const mostValues = 500;
const mostChars = 16_384;

/** These make much out of little within one step, or are not to be had outside a whole `Template`. */
const unbounded = /\b(range|strftime_now)\b/;

/** More work than is done on the spot. */
class TooMuchWork extends Error {}

/**
 * The outermost scope. The library's own throws and catches an error, with its stack trace, for each name that is not
 * set, as in `enable_thinking is defined`; a scope that is said to have it gives undefined as well.
 */
class Globals extends Environment {
  override resolve(): Environment {
    return this;
  }
}

class MeteredInterpreter extends Interpreter {
  #left = mostSteps;

  override evaluate(statement: unknown, environment: Environment): Value {
    this.#spend(1);
    const value = super.evaluate(statement, environment);
    const { value: made } = value;
    if (typeof made === 'string' || Array.isArray(made)) this.#spend(made.length / unitsPerStep);
    return value;
  }

  #spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooMuchWork();
  }
}

/** Whether a template may be rendered on the spot at all. */
export function isBrief(template: string): boolean {
  return !unbounded.test(template);
}

/**
 * @param template a parsed program
 * @param variables plain data
 * @returns the text, or null where it takes more work than is done on the spot
 * @throws what the template throws
 */
export function renderBriefly(
  template: unknown,
  variables: Readonly<Record<string, unknown>>,
): string | null {
  if (!isShort(variables)) return null;
  const environment = new Globals();
  for (const [name, value] of Object.entries({ ...globals, ...variables })) environment.set(name, value);
  try {
    return String(new MeteredInterpreter(environment).run(template).value);
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

/** As a whole `Template` has them. */
const globals = {
  true: true,
  false: false,
  none: null,
  True: true,
  False: false,
  None: null,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
};

function isShort(variables: unknown): boolean {
  let values = 0;
  let chars = 0;
  const fits = (value: unknown): boolean => {
    values += 1;
    if (typeof value === 'string') chars += value.length;
    if (values > mostValues || chars > mostChars) return false;
    return typeof value !== 'object' || value === null || Object.values(value).every(fits);
  };
  return fits(variables);
}
