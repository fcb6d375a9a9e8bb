// Flows that share what serves them in the proportion of their weights. Weighted fair queueing with a self-clocked
// virtual time (Golestani, INFOCOM 1994): a flow is due when, served at its weight, it would have finished what it has
// first. Only that has a time, so that whatever is taken out unserved costs its flow nothing.

/** What stands in line under one name. */
export interface Flow {
  /** Whether nothing of it waits. */
  readonly isEmpty: boolean;
  /** Of what it has first, divided by its weight. */
  readonly cost: number;
}

interface Line<F extends Flow> {
  readonly flow: F;
  /** Virtual time at which what it has first begins. */
  begin: number;
}

export class FairFlows<Name, F extends Flow> {
  readonly #lines = new Map<Name, Line<F>>();
  readonly #make: (name: Name) => F;
  #virtualTime = 0;
  /** Whose turn it is; undefined: something has changed since that was looked for. */
  #first: Line<F> | null | undefined;

  constructor(make: (name: Name) => F) {
    this.#make = make;
  }

  /** Those in which something waits, and those that are in debt. */
  *[Symbol.iterator](): IterableIterator<[Name, F]> {
    for (const [name, { flow }] of this.#lines) yield [name, flow];
  }

  /** Lets something into a flow. */
  enter(name: Name, into: (flow: F) => void): void {
    const line = this.#line(name);
    if (line.flow.isEmpty) line.begin = Math.max(this.#virtualTime, line.begin);
    into(line.flow);
    this.#first = undefined;
  }

  /** The flow whose turn it is: of those that are due at once the one that came first. */
  get first(): F | null {
    return this.#turn()?.flow ?? null;
  }

  /** Takes what is first out of the flow whose turn it is, which pays for it. */
  serve(out: (flow: F) => void): void {
    const line = this.#turn();
    if (line === null) return;
    this.#virtualTime = line.begin + line.flow.cost;
    line.begin = this.#virtualTime;
    out(line.flow);
    this.#first = undefined;
    for (const name of this.#lines.keys()) this.#dropIfDone(name);
  }

  /** To be called once something was taken out of a flow unserved. */
  left(name: Name): void {
    this.#first = undefined;
    this.#dropIfDone(name);
  }

  /** Served at a cost that was wrong by so much: more is a debt, less a credit while something of the flow waits. */
  correct(name: Name, cost: number): void {
    if (cost <= 0 && !this.#lines.has(name)) return;
    const line = this.#line(name);
    line.begin += cost;
    this.#first = undefined;
    this.#dropIfDone(name);
  }

  #line(name: Name): Line<F> {
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const line = { flow: this.#make(name), begin: this.#virtualTime };
    this.#lines.set(name, line);
    return line;
  }

  #turn(): Line<F> | null {
    if (this.#first === undefined) this.#first = this.#firstDue();
    return this.#first;
  }

  #firstDue(): Line<F> | null {
    let [first, least]: [Line<F> | null, number] = [null, Infinity];
    for (const line of this.#lines.values()) {
      if (line.flow.isEmpty) continue;
      const due = line.begin + line.flow.cost;
      if (due < least) [first, least] = [line, due];
    }
    return first;
  }

  /** One that is neither waiting nor in debt begins where the virtual time is, as one that was never there. */
  #dropIfDone(name: Name): void {
    const line = this.#lines.get(name);
    if (line?.flow.isEmpty === true && line.begin <= this.#virtualTime) this.#lines.delete(name);
  }
}
