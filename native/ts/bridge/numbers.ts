// What C++ holds the numbers of the bridge in, and how rows of them and null are read.

// What C++ holds numbers in: 32 bits, but for these.
export type Int64 = number;
export type Float32 = number;
export type Float64 = number;

/** Null: each of its fields has its neutral value. */
export type OrNeutral<T> = T | null;

declare const row: unique symbol;
/** Rows of equal length, one after the other, in the order of the row's fields. */
export type Flat<Row> = Int32Array & { readonly [row]?: Row };
