/**
 * An address as attempts at it are counted. The database finds rows by a collation that also takes letters for
 * equal which only look alike (full-width ones, for example); each such spelling would be counted for itself. So
 * whoever signs in has to use the member's own letters, in whatever case.
 */
export const countedEmail = (email: string): string => email.normalize('NFC').toLowerCase();

export const isSameEmail = (one: string, other: string): boolean => countedEmail(one) === countedEmail(other);
