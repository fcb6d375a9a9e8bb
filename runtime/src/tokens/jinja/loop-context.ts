// `loop` within a loop: where it is, its neighbours, and a choice by turns.

import { TemplateError } from './errors.js';
import { Callable, Instance, Undefined, present, type Value } from './values.js';

export class LoopContext extends Instance {
  readonly typeName = 'LoopContext';
  /** Of the item that is handled. */
  index = 0;

  constructor(private readonly items: readonly Value[]) {
    super();
  }

  override attribute(name: string): Value | undefined {
    const { index, items } = this;
    switch (name) {
      case 'index':
        return index + 1;
      case 'index0':
        return index;
      case 'revindex':
        return items.length - index;
      case 'revindex0':
        return items.length - index - 1;
      case 'first':
        return index === 0;
      case 'last':
        return index === items.length - 1;
      case 'length':
        return items.length;
      case 'previtem':
        return present(items[index - 1], () => new Undefined('there is no previous item'));
      case 'nextitem':
        return present(items[index + 1], () => new Undefined('there is no next item'));
      case 'cycle':
        return new Callable('cycle', ({ positional }) => this.#cycle(positional));
      default:
        return undefined;
    }
  }

  #cycle(values: readonly Value[]): Value {
    const value = values[this.index % values.length];
    if (value === undefined) throw new TemplateError('no items for cycling given');
    return value;
  }
}
