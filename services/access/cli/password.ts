import { randomInt } from 'node:crypto';
import { text } from 'node:stream/consumers';

/** Without easily confused characters. */
const alphabet = '23456789abcdefghjkmnpqrstuvwxyz';

/** Four groups of five characters: 99 bits, and short enough to type from paper. */
export const generatePassword = (): string =>
  Array.from({ length: 4 }, () =>
    Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join(''),
  ).join('-');

/** All of standard input except the final line break. */
export const passwordFromInput = async (): Promise<string> =>
  (await text(process.stdin)).replace(/\r?\n$/, '');
