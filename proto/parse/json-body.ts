import { type Detail, invalid, invalidField, type Problem } from '../errors.ts';
import { scanJson } from './scan-json.ts';

export interface JsonBody {
  readonly value: Readonly<Record<string, unknown>>;
  /** What is wrong with the text itself, whatever it is sent to. */
  readonly problems: readonly Detail[];
}

/**
 * Reads a JSON object. No bytes at all stand for an empty one.
 * @throws Problem where the bytes are not UTF-8 or not a JSON object, and where they exceed the bounds of
 * `scanJson`: then nothing else in them can be judged.
 */
export const readJsonObject = (bytes: Uint8Array): JsonBody => {
  if (bytes.byteLength === 0) return empty;
  const text = decode(bytes);
  // Before the parser, which takes long over very many keys.
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
