/**
 * The form of an address under which attempts are counted. The database's collation also treats look-alike letters as
 * equal (full-width ones, for example), and each such spelling would get its own count. So members must sign in with
 * the exact letters of their address, in any case.
 */
export const countedEmail = (email: string): string => email.normalize('NFC').toLowerCase();

export const isSameEmail = (one: string, other: string): boolean => countedEmail(one) === countedEmail(other);
