import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { invalidField } from '@causeway/proto';

/**
 * Refuses common passwords from leaks, also with digits around or letters replaced, repetitions, keyboard
 * runs, and the names of the company, the person and this product. There are no rules on kinds of characters
 * (NIST SP 800-63B-4, section 3.1.1.2).
 *
 * Why not `@zxcvbn-ts/core`: measured with 4.2, it takes 155 MB and 0.6 s to load, a chosen password of 256
 * characters blocks the process for 5 to 10 s, and `qwerty-asdfgh-zxcvbn` gets its best score.
 * @param context words that are easy to guess: the company's name, the person's name and address.
 * @throws Problem naming `field`
 */
export const requireGoodPassword = (field: string, password: string, context: readonly string[]): void => {
  const reason = weakness(password, context);
  if (reason) throw invalidField(field, 'out_of_range', `${field} ${reason}`);
};

const weakness = (password: string, context: readonly string[]): string | undefined => {
  const plain = plainForm(password);
  // A sign at either end may stand for a letter or for nothing.
  const forms = [plain, coreOf(plain), coreOf(withLetters(plain))];
  if (forms.some((form) => isCommon(form)) || isRepeated(plain)) return 'is a common password';
  if (isRun(plain)) return 'is a run of keys or characters';
  if (new Set(plain).size < 5) return 'has too few different characters';
  const left = coreOf(without(plain, context));
  return left.length < 5 && left.length < plain.length - 4
    ? 'is made of names that anyone can guess'
    : undefined;
};

const plainForm = (password: string): string => password.normalize('NFKC').toLowerCase();

const coreOf = (plain: string): string => withLetters(plain.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, ''));

const withLetters = (text: string): string =>
  text.replace(/[@$!|013457]/g, (character) => standIns[character] ?? character);
const standIns: Readonly<Record<string, string>> = {
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
};

const digestBytes = 5;
let digests: ReadonlySet<string> | undefined;

/**
 * `common-passwords.bin` holds, sorted, the first five bytes of SHA-256 digests: of the passwords of at least twelve
 * characters, and of the cores of at least four letters, among the twenty thousand most common (Royce Williams' list,
 * as Django ships it). Digests keep offensive words out of the repository.
 */
const isCommon = (text: string): boolean => {
  digests ??= readDigests();
  return digests.has(digestOf(text));
};

export const digestOf = (text: string): string => hash('sha256', text, 'hex').slice(0, 2 * digestBytes);

const readDigests = (): ReadonlySet<string> => {
  const bytes = readFileSync(new URL('common-passwords.bin', import.meta.url));
  const known = new Set<string>();
  for (let at = 0; at < bytes.length; at += digestBytes)
    known.add(bytes.toString('hex', at, at + digestBytes));
  return known;
};

const isRepeated = (text: string): boolean => {
  for (let length = 1; length <= text.length / 2; length++) {
    const piece = text.slice(0, length);
    const repeated = piece.repeat(Math.ceil(text.length / length)).startsWith(text);
    if (repeated && (length <= 4 || isCommon(piece) || isCommon(coreOf(piece)))) return true;
  }
  return false;
};

const rows = [
  '1234567890123456789012345678901234567890',
  'qwertyuiopasdfghjklzxcvbnmqwertyuiop',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
];
const runs = rows.flatMap((row) => [row, [...row].toReversed().join('')]);

/** Consists of pieces of at least four characters from keyboard rows, except for at most three characters. */
const isRun = (text: string): boolean => {
  const letters = text.replace(/[^\p{L}\p{N}]/gu, '');
  let astray = 0;
  for (let at = 0; at < letters.length; ) {
    const length = pieceAt(letters, at);
    at += Math.max(length, 1);
    if (length === 0 && ++astray > 3) return false;
  }
  return true;
};

/** 0 if the piece is too short to count. */
const pieceAt = (text: string, at: number): number => {
  let length = 3;
  while (at + length < text.length && runs.some((run) => run.includes(text.slice(at, at + length + 1))))
    length++;
  return length > 3 ? length : 0;
};

const productWords = ['causeway', 'portal', 'webhook', 'password', 'welcome', 'admin', 'company'];

const without = (text: string, context: readonly string[]): string => {
  const words = context.flatMap((entry) => plainForm(entry).split(/[^\p{L}\p{N}]+/u));
  const known = [...words, ...productWords].filter((word) => word.length >= 4);
  return known
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, word) => rest.replaceAll(word, ''), text);
};
