import type { Detail, DetailCode } from '../errors.ts';
import { echo } from '../schemas/values.ts';

/** MySQL's JSON type allows 100 levels, and an event nests its payload two levels deep. */
const maxDepth = 64;
/** In a body, over all its objects. A payload of 262144 bytes reaches it only with a key every 13 bytes. */
export const maxKeys = 20_000;
export const maxDetails = 100;

interface JsonScan {
  readonly problems: readonly Detail[];
  readonly stopped: boolean;
}

/**
 * Finds what `JSON.parse` ignores: duplicate keys, numbers that a double cannot hold exactly, nested keys
 * `__proto__`, NUL characters, unpaired surrogates. Stops at too many keys, levels or problems, before any object is
 * built. The text must be valid JSON; otherwise the parser's error counts.
 */
export const scanJson = (text: string): JsonScan => {
  const problems: Detail[] = [];
  let nextEscape = firstFrom(text, '\\', 0);
  const levels: Level[] = [];
  let depth = -1;
  let level: Level | undefined;
  let isKey = false;
  let keys = 0;
  const addProblem = (code: DetailCode, sentence: string, toDepth = depth) => {
    const field = placeOf(levels, toDepth) || 'body';
    problems.push({ field, code, message: `${field} ${sentence}` });
  };
  const checkText = (value: string, toDepth?: number) => {
    if (value.includes('\u0000'))
      addProblem('invalid_characters', 'must not contain a NUL character', toDepth);
    else if (!value.isWellFormed()) addProblem('invalid_characters', 'must be valid Unicode', toDepth);
  };
  const stopAt = (field: string, sentence: string): JsonScan => ({
    problems: [{ field, code: 'too_long', message: sentence }],
    stopped: true,
  });

  for (let at = 0; at < text.length; at++) {
    if (problems.length >= maxDetails) return { problems: problems.slice(0, maxDetails), stopped: true };
    const code = text.charCodeAt(at);
    switch (code) {
      case quote: {
        const start = at + 1;
        at = text.indexOf('"', start);
        const isEscaped = nextEscape < at;
        if (isEscaped) {
          while (at >= 0 && isEscapedAt(text, at)) at = text.indexOf('"', at + 1);
          nextEscape = firstFrom(text, '\\', at);
        }
        if (at < 0) return { problems, stopped: false };
        if (!isKey && !isEscaped) break;
        const raw = text.slice(start, at);
        if (!isKey || !level) {
          if (suspicious.test(raw)) checkText(decoded(raw));
          break;
        }
        const value = isEscaped ? decoded(raw) : raw;
        isKey = false;
        if (++keys > maxKeys) return stopAt('body', `the body must have at most ${maxKeys} keys`);
        if (isEscaped) checkText(value, depth - 1);
        level.key = value;
        const { size } = level.names;
        if (level.names.add(value).size === size) addProblem('must_agree', 'must be given only once');
        if (value === '__proto__' && depth > 0) addProblem('invalid_characters', 'is not an allowed key');
        break;
      }
      case openBrace:
      case openBracket:
        if (++depth > maxDepth) {
          const field = placeOf(levels, 0) || 'body';
          return stopAt(field, `${field} must not be nested deeper than ${maxDepth} levels`);
        }
        isKey = code === openBrace;
        level = levels[depth] ??= { key: undefined, index: 0, names: new Set() };
        level.key = isKey ? '' : undefined;
        level.index = 0;
        if (level.names.size > 0) level.names.clear();
        break;
      case closeBrace:
      case closeBracket:
        isKey = false;
        if (--depth < -1) return { problems, stopped: false };
        level = levels[depth];
        break;
      case comma:
        if (!level) return { problems, stopped: false };
        isKey = level.key !== undefined;
        if (!isKey) level.index++;
        break;
      default: {
        if (code !== minus && !isDigit(code)) break;
        const start = at;
        let isPlain = true;
        for (; ; at++) {
          const next = text.charCodeAt(at + 1);
          if (next === 101 || next === 69) isPlain = false;
          else if (!isDigit(next) && next !== minus && next !== 43 && next !== 46) break;
        }
        // Any decimal of up to 15 digits survives the conversion to a double and back.
        if ((at - start >= 15 || !isPlain) && !isHeldExactly(text.slice(start, at + 1)))
          addProblem('out_of_range', 'cannot be stored exactly as a number');
      }
    }
  }
  return { problems, stopped: false };
};

interface Level {
  key: string | undefined;
  index: number;
  readonly names: Set<string>;
}

/** May be a NUL or half of a pair. Decoding every text would take ten times as long. */
const suspicious = /\\u(?:0000|d[89a-f])/i;

const firstFrom = (text: string, wanted: string, start: number): number => {
  const at = text.indexOf(wanted, start);
  return at < 0 ? text.length : at;
};

const isEscapedAt = (text: string, at: number): boolean => {
  let slashes = at;
  while (text.charCodeAt(slashes - 1) === backslash) slashes--;
  return (at - slashes) % 2 === 1;
};

export const decoded = (raw: string): string => {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
};

/** `payload.items[3].price`, as far as it is shown. */
const placeOf = (levels: readonly Level[], depth: number): string => {
  let place = '';
  for (let at = 0; at <= depth && place.length < maxPlaceLength; at++) {
    const { key, index } = levels[at]!;
    if (key === undefined) place += `[${index}]`;
    else place += `${place && '.'}${key.slice(0, maxPlaceLength)}`;
  }
  return echo(place);
};
/** More than `echo` keeps. */
const maxPlaceLength = 300;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * Whether a double is exactly the written value, or JavaScript writes it so (`1.0`, `-0`): 2^60 is
 * 1152921504606847000 in JavaScript and 1152921504606846976 in most other languages.
 */
export const isHeldExactly = (written: string): boolean => {
  const number = Number(written);
  if (!Number.isFinite(number)) return false;
  if (String(number) === written) return true;
  const [digits, exponent] = decimal(written);
  const [heldDigits, heldExponent] = decimal(String(number));
  if (digits === heldDigits && (digits === '' || exponent === heldExponent)) return true;
  // 5^23 exceeds the 53 bits of a double, so a larger power of ten divides none. It also bounds the work.
  if (exponent < 0 || exponent > 22 || digits.length > 309) return false;
  return BigInt(digits + '0'.repeat(exponent)) === BigInt(Math.abs(number));
};

const decimal = (text: string): readonly [digits: string, exponent: number] => {
  const [mantissa = '', power = '0'] = text.replace(/^-/, '').split(/e/i);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  let first = 0;
  while (all.charCodeAt(first) === 48) first++;
  let last = all.length;
  while (last > first && all.charCodeAt(last - 1) === 48) last--;
  return [all.slice(first, last), Number(power) - fraction.length + (all.length - last)];
};

const quote = 34;
const comma = 44;
const minus = 45;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;
