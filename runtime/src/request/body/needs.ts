/** Part of a JSON schema: what an object whose `type` is this one must have with it. */
export const needs = (type: string, ...required: string[]): object => ({
  if: { required: ['type'], properties: { type: { const: type } } },
  then: { required },
});
