/**
 * An email address without case: NFC and Unicode's simple case folding, and nothing else, so that a look-alike stays another
 * address (contract, "Fields").
 */
export const foldedAddress = (address: string): string =>
  address
    .normalize('NFC')
    .replace(/[A-Z\u0080-\u{10ffff}]/gu, foldedLetter)
    .normalize('NFC');

const foldedLetter = (letter: string): string => {
  // The two letters about which JavaScript's cases differ from Unicode's simple folding.
  if (letter === 'ı') return letter;
  if (letter === 'ﬅ') return 'ﬆ';
  const upper = letter.toUpperCase();
  const lower = (isOne(upper) ? upper : letter).toLowerCase();
  return isOne(lower) ? lower : letter;
};

const isOne = (text: string): boolean => text.length === (text.codePointAt(0)! > 0xffff ? 2 : 1);
