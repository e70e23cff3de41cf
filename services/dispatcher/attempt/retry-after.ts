/**
 * How long a `Retry-After` header asks to wait, in milliseconds: whole seconds, or a date (RFC 9110, 10.2.3).
 * Undefined where it says neither, or a time that is past.
 */
export const retryAfterMs = (header: string | null, nowMs: number): number | undefined => {
  const text = header?.trim() ?? '';
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  // Every form of HTTP-date begins with a weekday; `Date.parse` alone takes nearly any text for a date.
  if (!/^(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?,? /.test(text)) return undefined;
  const waitMs = Date.parse(/(GMT|UTC|Z)$/.test(text) ? text : `${text} GMT`) - nowMs;
  return waitMs > 0 ? waitMs : undefined;
};
