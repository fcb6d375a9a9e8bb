/** A text that ends an answer; what may be the beginning of one is held back. */
export const stopString = { type: 'string', minLength: 1, maxLength: 1024 };
