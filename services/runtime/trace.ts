import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(4096);
let used = pool.length;

/** Random lower-case hex; the pool saves a system call for every request. */
export const randomHex = (bytes: number): string => {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
};

const version00 = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

/**
 * The W3C trace context (https://www.w3.org/TR/trace-context/) of the next hop: the caller's trace id
 * and flags with a new span id, or a new unsampled trace where the caller sent none that is valid.
 */
export const childTraceparent = (incoming: string): string => {
  if (incoming.length === 55) {
    const match = version00.exec(incoming);
    if (match) return `00-${match[1]}-${randomHex(8)}-${match[2]}`;
  }
  return `00-${randomHex(16)}-${randomHex(8)}-00`;
};

export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);
