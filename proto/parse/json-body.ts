import { type Detail, invalid, invalidField, type Problem } from '../errors.ts';
import { scanJson } from './scan-json.ts';

interface JsonBody {
  readonly value: Readonly<Record<string, unknown>>;
  /** Problems of the text itself, independent of its operation. */
  readonly problems: readonly Detail[];
}

/**
 * Reads a JSON object. An empty body counts as an empty object.
 * @throws Problem if the bytes are not UTF-8, not a JSON object, or exceed the bounds of `scanJson`: then nothing
 * else can be checked.
 */
export const readJsonObject = (bytes: Uint8Array): JsonBody => {
  if (bytes.byteLength === 0) return empty;
  const text = decode(bytes);
  // Runs before the parser, which is slow on very many keys.
  const { problems, stopped } = scanJson(text);
  if (stopped) throw invalid(problems);
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bodyProblem('the body must be a JSON object');
  return { value: value as Record<string, unknown>, problems };
};

const empty: JsonBody = Object.freeze({ value: Object.freeze({}), problems: [] });

const decode = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw bodyProblem('the body must be valid UTF-8');
  }
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw bodyProblem('payload must be valid JSON');
  }
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

const bodyProblem = (message: string): Problem => invalidField('body', message);
