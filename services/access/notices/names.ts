import { isEventType } from '@causeway/proto';

/**
 * A name that people chose, on one line. Characters that change the direction of what follows, or that nobody sees, are removed,
 * and a name that runs from right to left is isolated (Unicode Standard Annex 9), so that it cannot reorder the sentence.
 */
export const nameOf = (name: string): string => {
  const line = name
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    // Joiners are letters' and emojis' own.
    .replace(/(?![\u200c\u200d])\p{Cf}/gu, '')
    .trim();
  const short = [...line].length > 100 ? `${[...line].slice(0, 99).join('')}…` : line;
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u.test(short) ? `\u2068${short}\u2069` : short;
};

/**
 * A text in which mail programs and Slack find no link, whatever names stand in it: `https[:]//evil[.]example`. Look-alikes of
 * the characters of URLs count as those. Addresses of members stay as they are.
 */
export const linkless = (text: string): string =>
  text.replace(/\S+/gu, (word) => {
    if (isEventType(word)) return word;
    if (/^[(“\u2068]*[\w.+-]{1,64}@(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}[\u2069”),.:]*$/u.test(word)) return word;
    const plain = word
      .replace(/(?![\u2066-\u2069])\p{DI}/gu, '')
      .normalize('NFKC')
      .replace(/[\u06d4\u0701\u0702\u3002\ua4f8]/gu, '.')
      .replace(/[\u2044\u2215\u29f8\u29f6\u2571\\]/gu, '/')
      .replace(/[\u02d0\u2236\ua789]/gu, ':');
    const broken = plain
      .replace(/:(?=\/\/)/g, '[:]')
      // No top-level domain has a single letter or digits only.
      .replace(/(?<=[^\s.])\.(?!\d+(?![\p{L}\p{N}.-]))(?=[\p{L}\p{N}][\p{L}\p{M}\p{N}-])/gu, '[.]');
    return broken === plain ? word : broken;
  });

/** For people who do not know the company: addresses are none either. */
export const strangersName = (name: string): string =>
  linkless(nameOf(name).normalize('NFKC').replaceAll('@', ' at '));
