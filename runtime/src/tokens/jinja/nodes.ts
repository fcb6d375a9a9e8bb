// A parsed template.

import type { Value } from './values.js';

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** Of `*list` and `**dict`. */
  readonly list?: Expression;
  readonly dict?: Expression;
}

export interface Parameter {
  readonly name: string;
  readonly default?: Expression;
}

export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';
export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export interface Bounds {
  readonly start: Expression | null;
  readonly stop: Expression | null;
  readonly step: Expression | null;
}

export interface Call {
  readonly kind: 'call';
  readonly callee: Expression;
  readonly args: Arguments;
}

export type Expression =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list' | 'tuple'; readonly items: readonly Expression[] }
  | { readonly kind: 'dict'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: 'attribute'; readonly of: Expression; readonly name: string }
  | { readonly kind: 'item'; readonly of: Expression; readonly index: Expression }
  | ({ readonly kind: 'slice'; readonly of: Expression } & Bounds)
  | Call
  | {
      readonly kind: 'filter';
      readonly name: string;
      readonly of: Expression | null;
      readonly args: Arguments;
    }
  | { readonly kind: 'test'; readonly name: string; readonly of: Expression; readonly args: Arguments }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'unary'; readonly operator: '+' | '-' | 'not'; readonly of: Expression }
  | {
      readonly kind: 'logic';
      readonly operator: 'and' | 'or';
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'compare';
      readonly first: Expression;
      readonly rest: readonly (readonly [Comparison, Expression])[];
    }
  | { readonly kind: 'concat'; readonly items: readonly Expression[] }
  | {
      readonly kind: 'condition';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression | null;
    };

export type Target =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'field'; readonly of: string; readonly name: string }
  | { readonly kind: 'targets'; readonly targets: readonly Target[] };

export interface Macro {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: Body;
  /** Names that the body reads and Python binds only then: `varargs`, `kwargs`, `caller`. */
  readonly reads: ReadonlySet<string>;
}

export interface Loop {
  readonly kind: 'for';
  readonly target: Target;
  readonly items: Expression;
  readonly condition: Expression | null;
  readonly body: Body;
  readonly otherwise: Body;
}

export type Statement =
  | { readonly kind: 'data'; readonly text: string }
  | { readonly kind: 'print'; readonly of: Expression }
  | { readonly kind: 'if'; readonly test: Expression; readonly then: Body; readonly otherwise: Body }
  | Loop
  | { readonly kind: 'set'; readonly target: Target; readonly value: Expression }
  | {
      readonly kind: 'set block';
      readonly target: Target;
      readonly body: Body;
      readonly filter: Expression | null;
    }
  | {
      readonly kind: 'with';
      readonly values: readonly (readonly [Target, Expression])[];
      readonly body: Body;
    }
  | { readonly kind: 'filter block'; readonly body: Body; readonly filter: Expression }
  | { readonly kind: 'macro'; readonly macro: Macro }
  | { readonly kind: 'call block'; readonly call: Call; readonly caller: Macro }
  | { readonly kind: 'scope'; readonly body: Body }
  | { readonly kind: 'break' | 'continue' };

export type Body = readonly Statement[];
