// How the error of a client of a store of checkpoints is read: by a table of the store's own, a row of which has codes of
// answers and connections, and HTTP statuses of answers whose code no row has.

export interface StoreErrorRow<M extends string> {
  readonly means: M;
  /** What happened, for the page. */
  readonly what: string;
  readonly codes: readonly string[];
  /** Of answers whose code no row has: those to HEAD have no body and so no code. */
  readonly statuses?: readonly number[];
  /** The row counts only where the message is like this. */
  readonly like?: RegExp;
  /** Remedy, where that of the reason does not say it. */
  readonly hint?: string;
}

export interface StoreErrorReading<M extends string> {
  readonly means: M;
  /** Of the answer or the connection; never a free text of the server's. */
  readonly code: string;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly hint: string | null;
}

/** What clients throw: errors of their own and those of Node. */
interface StoreErrorShape {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The first row that has an error's code counts, else the first that has its status, else `otherwise` does. */
export function readStoreError<M extends string>(
  table: readonly StoreErrorRow<M>[],
  error: unknown,
  otherwise: (status: number | null, codes: readonly string[]) => M,
): StoreErrorReading<M> {
  const shape = shapeOf(error);
  const status = shape.$metadata?.httpStatusCode ?? null;
  const message = typeof shape.message === 'string' ? shape.message : '';
  const named = [shape.name, shape.code, shapeOf(shape.cause).code].filter(isCode);
  const codes = status === null ? [...named, ...codesIn(message, table)] : named;
  const row = rowOf(table, codes, status, message);
  const means = row?.means ?? otherwise(status, codes);
  // A name such as Error says less than the code beside it.
  const code = codes.find((each) => row?.codes.includes(each)) ?? codes.at(-1) ?? 'Error';
  return { means, code, status, hint: row?.hint ?? null };
}

/** `HTTP 403 AccessDenied`, `ECONNREFUSED`, with the remedy. */
export function describeStoreError({ code, status, hint }: StoreErrorReading<string>): string {
  const answer = status === null ? code : `HTTP ${String(status)} ${code}`;
  return hint === null ? answer : `${answer}; ${hint}`;
}

/** Where nobody has answered the text is Node's: of several errors in one, the text alone has their codes. */
function codesIn(message: string, table: readonly StoreErrorRow<string>[]): string[] {
  const words = new Set(message.match(/\b[A-Z][A-Z_]+\b/g));
  return table.flatMap(({ codes }) => codes.filter((code) => words.has(code)));
}

function rowOf<M extends string>(
  table: readonly StoreErrorRow<M>[],
  codes: readonly string[],
  status: number | null,
  message: string,
): StoreErrorRow<M> | undefined {
  const fits = ({ like }: StoreErrorRow<M>): boolean => like?.test(message) ?? true;
  return (
    table.find((row) => codes.some((code) => row.codes.includes(code)) && fits(row)) ??
    table.find((row) => status !== null && row.statuses?.includes(status))
  );
}

function shapeOf(value: unknown): StoreErrorShape {
  return typeof value === 'object' && value !== null ? value : {};
}

/** What an endpoint calls a code may be any text. */
function isCode(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_.]{1,64}$/.test(value);
}

/** Errors of a connection, which are alike of every store. @param endpoint the setting that names the server */
export function connectionRows<M extends string>(of: {
  readonly untrusted: M;
  readonly unavailable: M;
  readonly endpoint: string;
  /** What to correct where one side speaks TLS and the other does not; by default the scheme of the endpoint. */
  readonly plain?: string;
}): readonly StoreErrorRow<M>[] {
  return [
    {
      means: of.untrusted,
      what: 'the certificate is from an unknown authority, or for another host',
      codes: [
        ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
        ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_UNTRUSTED', 'INVALID_CA'],
        // An authority that was made anew under its old name, and chains that none may sign.
        ...['CERT_SIGNATURE_FAILURE', 'CERT_CHAIN_TOO_LONG', 'PATH_LENGTH_EXCEEDED', 'INVALID_PURPOSE'],
        ...['CERT_REJECTED', 'CERT_REVOKED', 'UNABLE_TO_DECRYPT_CERT_SIGNATURE'],
        ...['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY'],
        ...['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH'],
      ],
    },
    {
      means: of.unavailable,
      what: 'the certificate is expired, or not valid yet',
      codes: ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
      hint: 'renew the certificate of the endpoint, or set the clock of this machine',
    },
    {
      means: of.unavailable,
      what: 'one side speaks TLS and the other does not',
      codes: ['EPROTO', 'HPE_INVALID_CONSTANT', 'ERR_SSL_WRONG_VERSION_NUMBER'],
      hint: of.plain ?? `${of.endpoint} says http:// where it must say https://, or the reverse`,
    },
    {
      means: of.unavailable,
      what: 'the host has no address',
      // A headless Service without pods has none either: it may come back.
      codes: ['ENOTFOUND', 'EAI_AGAIN'],
      hint: `the host of ${of.endpoint} has no address`,
    },
    {
      means: of.unavailable,
      what: 'the network is unreachable, or a connection ended',
      codes: ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EPIPE'],
    },
  ];
}
