// How models of the engine refuse a plan: with the rule's name, as the engine does.

export function rule(holds: boolean, name: string): asserts holds {
  if (!holds) throw new Error(`the plan breaks a rule: ${name}`);
}
