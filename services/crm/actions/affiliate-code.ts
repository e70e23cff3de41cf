/** Digits and capitals without those that are taken for another: 0 and O, 1, I and L. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const length = 8;

/**
 * A code that can be read out on the telephone: 8 of 31 characters, 40 bits, so that two that meet in one
 * company are a rarity that the unique key finds.
 * @param random secure random bytes; those that would favour a character are passed over.
 */
export const affiliateCode = (random: (bytes: number) => Uint8Array): string => {
  const fair = 256 - (256 % alphabet.length);
  let code = '';
  while (code.length < length)
    for (const byte of random(length))
      if (byte < fair && code.length < length) code += alphabet[byte % alphabet.length];
  return code;
};
