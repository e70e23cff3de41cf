import { type Detail, type DetailCode, invalid, invalidField, type Problem } from '../errors.ts';
import { decoded, scanJson } from './scan-json.ts';

interface JsonBody {
  readonly value: Readonly<Record<string, unknown>>;
  readonly problems: readonly Detail[];
}

/**
 * @param name stands for the body in messages.
 * @throws Problem if the bytes are not UTF-8, not a JSON object, or exceed the bounds of `scanJson`.
 */
export const readJsonObject = (bytes: Uint8Array, name = 'the body'): JsonBody => {
  if (bytes.byteLength === 0) return empty;
  const text = decode(bytes);
  // Runs before the parser, which is slow on very many keys.
  const { problems, stopped } = scanJson(text);
  if (stopped) throw invalid(problems);
  const value = jsonIn(text, name);
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

const utf8 = new TextDecoder('utf-8', { fatal: true });

const jsonIn = (text: string, name: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    throw bodyProblem('not_json', `${name} must be valid JSON: ${placeOfFault(text)}`);
  }
};

const bodyProblem = (code: DetailCode, message: string): Problem => invalidField('body', code, message);

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
  // A reviver would take twenty times as long.
  const renamed = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) value[at] = renamed(value[at]);
      return value;
    }
    return Object.fromEntries(Object.entries(value).map(([key, own]) => [nameOf(key), renamed(own)]));
  };
  return renamed(JSON.parse(marked));
};

/** Each string of a valid text, and the colon after a key. */
const strings = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g;

/** Of the first token that must not stand where it does, which the parser tells of few faults. */
const placeOfFault = (text: string): string => {
  const open: string[] = [];
  const after = () => (open.length === 0 ? 'end' : open.at(-1) === '{' ? 'inObject' : 'inArray');
  let state: keyof typeof grammar = 'value';
  let at = 0;
  const goesOn = (expected: RegExp): boolean => {
    expected.lastIndex = at;
    const found = expected.test(text);
    if (found) at = expected.lastIndex;
    return found;
  };
  while (goesOn(grammar[state])) {
    const token = text[at - 1];
    if (token === '{' || token === '[') open.push(token);
    else if (token === '}' || token === ']') open.pop();
    if (token === '{') state = 'firstName';
    else if (token === '[') state = 'firstItem';
    else if (token === ',') state = state === 'inObject' ? 'name' : 'value';
    else if (token === ':') state = 'value';
    else if (token !== '}' && (state === 'name' || state === 'firstName')) state = 'colon';
    else state = after();
  }
  goesOn(blanks);
  const before = text.slice(0, at);
  return `line ${before.split('\n').length}, column ${before.length - before.lastIndexOf('\n')}`;
};

const sticky = (token: string): RegExp => new RegExp(`[ \\t\\r\\n]*(?:${token})`, 'y');
const string = String.raw`"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"`;
const value = String.raw`[[{]|${string}|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null`;
const blanks = sticky('');
const grammar = {
  value: sticky(value),
  firstItem: sticky(`\\]|${value}`),
  name: sticky(string),
  firstName: sticky(`}|${string}`),
  colon: sticky(':'),
  inObject: sticky('[,}]'),
  inArray: sticky('[,\\]]'),
  end: sticky('(?!)'),
} as const;
