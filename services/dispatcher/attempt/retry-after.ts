/**
 * The wait that a `Retry-After` header asks for, in milliseconds. It holds whole seconds or a date (RFC 9110,
 * 10.2.3). Undefined if it is neither, or a date in the past.
 */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  const text = header?.trim() ?? '';
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  // Every HTTP-date begins with a weekday. `Date.parse` alone accepts nearly any text.
  if (!/^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? /.test(text)) return undefined;
  const waitMs = Date.parse(/(GMT|UTC|Z)$/.test(text) ? text : `${text} GMT`) - nowMs;
  return waitMs > 0 ? waitMs : undefined;
};
