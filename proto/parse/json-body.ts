import { type Detail, invalid, invalidField, type Problem } from '../errors.ts';

/** MySQL's JSON type ends at 100 levels; an event puts its payload below two of its own. */
const maxDepth = 64;

/**
 * Reads a JSON object. Of names that occur twice the last one counts.
 * @throws Problem where the bytes are not UTF-8 or not a JSON object, where a text has a NUL or half a
 * surrogate pair (no UTF-8 can carry it on), and where a value is nested too deeply.
 */
export const readJsonObject = (bytes: Uint8Array): Record<string, unknown> => {
  if (bytes.byteLength === 0) return {};
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bodyProblem('the body must be a JSON object');
  const problems: Detail[] = [];
  for (const [field, inner] of Object.entries(value)) {
    const fault = faultOf(inner);
    if (fault) problems.push({ field, message: `${field} ${fault}` });
  }
  if (problems.length > 0) throw invalid(problems);
  return value as Record<string, unknown>;
};

const parseJson = (bytes: Uint8Array): unknown => {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw bodyProblem('the body must be valid UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw bodyProblem('payload must be valid JSON');
  }
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

const bodyProblem = (message: string): Problem => invalidField('body', message);

/** Walks with a list of its own instead of recursion: the depth is the caller's choice until it is known. */
const faultOf = (root: unknown): string | undefined => {
  if (typeof root !== 'object') return typeof root === 'string' ? textFault(root) : undefined;
  const open: [value: unknown, depth: number][] = [[root, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value === 'string') {
      const fault = textFault(value);
      if (fault) return fault;
    } else if (typeof value === 'object' && value !== null) {
      if (depth > maxDepth) return `must not be nested deeper than ${maxDepth} levels`;
      if (Array.isArray(value)) {
        for (const item of value) open.push([item, depth + 1]);
      } else {
        for (const [name, item] of Object.entries(value)) open.push([name, 0], [item, depth + 1]);
      }
    }
  }
  return undefined;
};

const textFault = (text: string): string | undefined => {
  if (text.includes('\u0000')) return 'must not contain a NUL character';
  return text.isWellFormed() ? undefined : 'must be valid Unicode';
};
