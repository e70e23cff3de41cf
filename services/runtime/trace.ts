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

const version00 = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

interface TraceparentParts {
  readonly traceId: string;
  readonly spanId: string;
  /** A bit field; bit 1 means that the trace is recorded. */
  readonly flags: number;
}

/** Parses a W3C trace context (https://www.w3.org/TR/trace-context/). */
export const traceparentParts = (traceparent: string): TraceparentParts | undefined => {
  if (traceparent.length !== 55) return undefined;
  const [, traceId, spanId, flags] = version00.exec(traceparent) ?? [];
  return traceId && spanId && flags ? { traceId, spanId, flags: Number.parseInt(flags, 16) } : undefined;
};

export const formatTraceparent = ({ traceId, spanId, flags }: TraceparentParts): string =>
  `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;

/** A new unsampled trace if `incoming` is invalid. @param recorded false clears the sampled flag */
export const childTraceparent = (incoming: string, recorded = true): string => {
  const { traceId = randomHex(16), flags: given = 0 } = traceparentParts(incoming) ?? {};
  const flags = recorded ? given : given & ~1;
  return formatTraceparent({ traceId, spanId: randomHex(8), flags });
};
