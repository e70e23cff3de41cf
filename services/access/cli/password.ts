import { randomInt } from 'node:crypto';
import { text } from 'node:stream/consumers';

/** Without characters that are mistaken for each other. */
const alphabet = '23456789abcdefghjkmnpqrstuvwxyz';

/** Four groups of five characters: 99 bits, and still to be typed from paper. */
export const madeUpPassword = (): string =>
  Array.from({ length: 4 }, () =>
    Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join(''),
  ).join('-');

/** All of standard input but the line's end. */
export const passwordFromInput = async (): Promise<string> =>
  (await text(process.stdin)).replace(/\r?\n$/, '');
