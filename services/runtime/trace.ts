import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;

/** The pool saves a system call for every request. */
export const randomHex = (bytes: number): string => {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
};

const version00 = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

/** A W3C trace context (https://www.w3.org/TR/trace-context/) within `incoming`'s trace; a new unsampled trace if that is invalid. */
export const childTraceparent = (incoming: string): string => {
  const [, traceId = randomHex(16), flags = '00'] = version00.exec(incoming) ?? [];
  return `00-${traceId}-${randomHex(8)}-${flags}`;
};
