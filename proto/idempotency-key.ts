/** Contract, "Idempotency". */
export const idempotencyKeyPattern = /^[!#-+\--[\]-~]{1,255}$/;

export const idempotencyKeyMs = 24 * 3_600_000;

/** With or without double quotes: both name the same key. @returns undefined if it is malformed. */
export const parseIdempotencyKey = (header: string): string | undefined => {
  const isQuoted = header.length > 2 && header.startsWith('"') && header.endsWith('"');
  const key = isQuoted ? header.slice(1, -1) : header;
  return idempotencyKeyPattern.test(key) ? key : undefined;
};
