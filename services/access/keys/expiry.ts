import { invalidField } from '@causeway/proto';

/** @throws Problem if it is not within the next five years. */
export const expiryOf = (
  body: { readonly expiresUtc?: string | null | undefined },
  now: Date,
): Date | null => {
  if (body.expiresUtc == null) return null;
  const leftMs = Date.parse(body.expiresUtc) - now.getTime();
  if (leftMs > 0 && leftMs <= longestExpiryMs) return new Date(body.expiresUtc);
  throw invalidField(
    'expiresUtc',
    'out_of_range',
    'expiresUtc must be in the future, and at most five years away',
  );
};
const longestExpiryMs = 5 * 366 * 86_400_000;
