import { type Detail, type DetailCode, invalid, invalidField, type Problem } from '../errors.ts';
import { codePoints, echo } from '../schemas/values.ts';

interface JsonBody {
  readonly value: Readonly<Record<string, unknown>>;
  readonly problems: readonly Detail[];
}

/** @throws Problem if the bytes are not UTF-8, not a JSON object, or exceed the bounds of `scanJson`. */
export const readJsonObject = (bytes: Uint8Array): JsonBody => {
  if (bytes.byteLength === 0) return empty;
  const text = decode(bytes);
  // Runs before the parser, which is slow on very many keys.
  const { problems, stopped } = scanJson(text);
  if (stopped) throw invalid(problems);
  const value = jsonIn(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bodyProblem('wrong_kind', 'the body must be a JSON object');
  return { value: value as Record<string, unknown>, problems };
};

const empty: JsonBody = Object.freeze({ value: Object.freeze({}), problems: [] });

const decode = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw bodyProblem('not_json', 'the body must be valid UTF-8');
  }
};

const jsonIn = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    throw bodyProblem('not_json', 'payload must be valid JSON');
  }
};

/**
 * `JSON.parse`, but right about keys with escapes: V8 takes one for another that it has read before, in whichever text
 * (nodejs/node#63785). Such keys are parsed under names without escapes, and get theirs back.
 */
export const parseJson = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  if (!text.includes('\\')) return value;
  const mark = `~${Math.random()}~`;
  const names: string[] = [];
  const marked = text.replace(strings, (string: string, raw: string, colon: string | undefined) =>
    colon !== undefined && raw.includes('\\') ? `"${mark}${names.push(decoded(raw)) - 1}"${colon}` : string,
  );
  if (names.length === 0) return value;
  const nameOf = (key: string): string =>
    key.startsWith(mark) ? names[Number(key.slice(mark.length))]! : key;
  return JSON.parse(marked, (_, one: unknown) =>
    typeof one === 'object' && one !== null && Object.keys(one).some((key) => key.startsWith(mark))
      ? Object.fromEntries(Object.entries(one).map(([key, own]) => [nameOf(key), own]))
      : one,
  );
};

/** Each string, and the colon after a key. */
const strings = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g;

const utf8 = new TextDecoder('utf-8', { fatal: true });

const bodyProblem = (code: DetailCode, message: string): Problem => invalidField('body', code, message);

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
 * `__proto__`, NUL characters, unpaired surrogates. Stops at too many keys or levels, before any object is
 * built. The text must be valid JSON; otherwise the parser's error counts.
 */
export const scanJson = (text: string): JsonScan => {
  if (hasTooManyKeys(text)) {
    const message = `the body must have at most ${maxKeys} keys`;
    return { problems: [{ field: 'body', code: 'too_long', message }], stopped: true };
  }
  const problems: Detail[] = [];
  const hasUnicodeEscapes = text.includes('\\u');
  let nextEscape = firstFrom(text, '\\', 0);
  const levels: Level[] = [];
  let depth = -1;
  let level: Level | undefined;
  let isKey = false;
  const addProblem: AddProblem = (field, code, sentence) => {
    if (problems.length < maxDetails) problems.push({ field, code, message: `${field} ${sentence}` });
  };
  const placeHere = (): string => placeOf(levels, depth);

  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const start = at + 1;
        at = text.indexOf('"', start);
        if (at < 0) return { problems, stopped: false };
        const isEscaped = nextEscape < at;
        if (isEscaped) {
          while (at >= 0 && isEscapedAt(text, at)) at = text.indexOf('"', at + 1);
          if (at < 0) return { problems, stopped: false };
          nextEscape = firstFrom(text, '\\', at);
        }
        if (!isKey && !(isEscaped && hasUnicodeEscapes)) break;
        const raw = text.slice(start, at);
        const value = isEscaped ? decoded(raw) : raw;
        if (isKey && level) {
          isKey = false;
          if (isEscaped) checkText(value, () => placeOf(levels, depth - 1), addProblem);
          level.key = value;
          if (isRepeated(level, value)) addProblem(placeHere(), 'must_agree', 'must be given only once');
          if (value === '__proto__' && depth > 0)
            addProblem(placeHere(), 'invalid_characters', 'is not an allowed key');
        } else checkText(value, placeHere, addProblem);
        break;
      }
      case openBrace:
      case openBracket:
        if (++depth > maxDepth) {
          const field = placeOf(levels, 0) || 'body';
          const message = `${field} must not be nested deeper than ${maxDepth} levels`;
          return { problems: [{ field, code: 'too_long', message }], stopped: true };
        }
        isKey = text.charCodeAt(at) === openBrace;
        level = levels[depth] ??= { key: undefined, index: 0, names: [], seen: undefined };
        level.key = isKey ? '' : undefined;
        level.index = 0;
        level.names.length = 0;
        level.seen = undefined;
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
      case minus:
      case 48:
      case 49:
      case 50:
      case 51:
      case 52:
      case 53:
      case 54:
      case 55:
      case 56:
      case 57: {
        const start = at;
        while (isNumeric(text.charCodeAt(at + 1))) at++;
        // Any decimal of up to 15 digits survives the conversion to a double and back.
        if (at - start >= 15 || hasExponent(text, start, at)) {
          if (!isHeldExactly(text.slice(start, at + 1)))
            addProblem(
              placeHere() || 'body',
              'out_of_range',
              'cannot be stored exactly as a number; send it as a string',
            );
        }
        break;
      }
    }
  }
  return { problems, stopped: false };
};

/** Remembering the keys of one large object takes ten times as long as counting them. */
const hasTooManyKeys = (text: string): boolean => {
  if (text.length < maxKeys * 5) return false;
  let keys = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) {
    at = text.indexOf('"', at + 1);
    while (at >= 0 && isEscapedAt(text, at)) at = text.indexOf('"', at + 1);
    if (at < 0) return false;
    let next = at + 1;
    while (isBlank(text.charCodeAt(next))) next++;
    if (text.charCodeAt(next) === colon && ++keys > maxKeys) return true;
  }
  return false;
};

const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

interface Level {
  key: string | undefined;
  index: number;
  readonly names: string[];
  /** Replaces `names` once there are many. */
  seen: Set<string> | undefined;
}

const fewNames = 16;

const isRepeated = (level: Level, name: string): boolean => {
  const { names } = level;
  if (level.seen) {
    const { size } = level.seen;
    return level.seen.add(name).size === size;
  }
  if (names.includes(name)) return true;
  names.push(name);
  if (names.length > fewNames) level.seen = new Set(names);
  return false;
};

type AddProblem = (field: string, code: DetailCode, sentence: string) => void;

const checkText = (value: string, place: () => string, addProblem: AddProblem) => {
  const refuse = (sentence: string) => addProblem(place() || 'body', 'invalid_characters', sentence);
  if (value.includes('\u0000')) refuse('must not contain a NUL character');
  else if (!value.isWellFormed()) refuse('must be valid Unicode');
};

const firstFrom = (text: string, wanted: string, start: number): number => {
  const at = text.indexOf(wanted, start);
  return at < 0 ? text.length : at;
};

const isEscapedAt = (text: string, at: number): boolean => {
  let slashes = at;
  while (text.charCodeAt(slashes - 1) === backslash) slashes--;
  return (at - slashes) % 2 === 1;
};

const decoded = (raw: string): string => {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
};

/** `payload.items[3].price`; keys are truncated. */
const placeOf = (levels: readonly Level[], depth: number): string => {
  let place = '';
  for (let at = 0; at <= depth; at++) {
    const { key, index } = levels[at] as Level;
    if (key === undefined) place += `[${index}]`;
    else place += place === '' ? key : `.${key}`;
    if (codePoints(place) > maxPlaceCharacters) break;
  }
  return echo(place);
};
const maxPlaceCharacters = 200;

const isNumeric = (code: number): boolean =>
  (code >= 48 && code <= 57) || code === 46 || code === 101 || code === 69 || code === 43 || code === minus;

const hasExponent = (text: string, start: number, end: number): boolean => {
  for (let at = start; at <= end; at++) {
    const code = text.charCodeAt(at);
    if (code === 101 || code === 69) return true;
  }
  return false;
};

/**
 * Whether a double is exactly the written value, or JavaScript writes it so (`1.0`, `-0`): 2^60 is
 * 1152921504606847000 in JavaScript and 1152921504606846976 in most other languages.
 */
export const isHeldExactly = (written: string): boolean => {
  const number = Number(written);
  if (!Number.isFinite(number)) return false;
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
const colon = 58;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;
