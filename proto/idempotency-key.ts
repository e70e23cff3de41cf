/** The characters of an `Idempotency-Key` (contract, "Idempotency"). */
export const idempotencyKeyPattern = /^[!#-+\--[\]-~]{1,255}$/;

/** How long the answer to a request with an `Idempotency-Key` is kept. */
export const idempotencyKeyMs = 24 * 3_600_000;

/**
 * Reads an `Idempotency-Key` header. The value may stand in double quotes, as the IETF draft writes it, or without, as
 * most clients do; both name the same key.
 * @returns undefined if it is malformed.
 */
export const parseIdempotencyKey = (header: string): string | undefined => {
  const isQuoted = header.length > 2 && header.startsWith('"') && header.endsWith('"');
  const key = isQuoted ? header.slice(1, -1) : header;
  return idempotencyKeyPattern.test(key) ? key : undefined;
};
