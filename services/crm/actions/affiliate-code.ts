/** Digits and capitals, without those that are easily confused: 0 and O, 1, I and L. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const length = 8;

/**
 * A code that can be read out on the phone: 8 of 31 characters, about 40 bits. The unique key catches the rare
 * collision within a company.
 * @param random secure random bytes; bytes that would favour a character are skipped.
 */
export const affiliateCode = (random: (bytes: number) => Uint8Array): string => {
  const fair = 256 - (256 % alphabet.length);
  let code = '';
  while (code.length < length)
    for (const byte of random(length))
      if (byte < fair && code.length < length) code += alphabet[byte % alphabet.length];
  return code;
};
