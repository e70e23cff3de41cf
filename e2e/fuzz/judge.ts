import { isBlank } from '../../proto/schemas/values.ts';
import type { Json, Reply } from '../api/support/world.ts';
import type { MadeRequest } from './requests.ts';
import type { Endpoint } from './surface.ts';

/** How a request was sent as to who asks. */
export type Standing = 'known' | 'unknown' | 'unscoped';

/** @returns what is wrong with an answer; undefined where it is as described. */
type Judge = (made: MadeRequest, standing: Standing, reply: Reply) => string | undefined;

/** What holds of all operations together. */
export interface Bounds {
  /** Every operation, also those that are not asked. */
  readonly described: readonly Endpoint[];
  /** Where operations are; elsewhere are pages, or nothing. */
  readonly base: string;
  /** Whether who is not known is told so first, also where there is no path. */
  readonly asksFirst: boolean;
  /** Where set, a request that the description allows is refused for this alone: problems with what is stored. */
  readonly storedProblems?: RegExp;
}

/** Judges by the description alone: which operation a request meets, and what that may answer. */
export const createJudge = ({ described, base, asksFirst, storedProblems }: Bounds): Judge => {
  const shapes = [...Map.groupBy(described, ({ path }) => path)].map(([path, all]) => ({
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    isFixed: !path.includes('{'),
    all,
  }));
  const met = (method: string, path: string) => {
    const matching = shapes.filter(({ pattern }) => pattern.test(path));
    const shape = matching.find(({ isFixed }) => isFixed) ?? matching[0];
    const asked = method === 'HEAD' ? 'GET' : method;
    return { isPath: shape !== undefined, endpoint: shape?.all.find((one) => one.method === asked) };
  };

  return (made, standing, reply) => {
    const { status, headers, text } = reply;
    const [path = ''] = made.path.split('?');
    const { isPath, endpoint } = met(made.method, path);
    if (status === 500) return 'an unexpected failure';
    if (/ at \S+ \(|\bZod|\[object |node_modules|SELECT |mysql|ECONN|\{field\}/.test(text))
      return 'an answer that tells of the inside';
    if (!path.startsWith(base)) return status < 500 ? undefined : 'a failure beside the interface';
    const isGuarded = endpoint ? endpoint.isGuarded : asksFirst;
    if (standing === 'unknown' && isGuarded && status !== 401)
      if (asksFirst || status < 400) return 'let in without being known';
    if (!/^[\w.~:+/=-]{1,128}$/.test(String(headers['x-request-id']))) return 'no valid X-Request-Id';
    if (asksFirst && status < 300 && /\/\d{10,}(?:\/|$)/.test(path)) return 'a record with the id of nobody';
    if (endpoint === undefined) {
      const expected = standing === 'unknown' && status === 401 ? 401 : isPath ? 405 : 404;
      return status === expected ? undefined : 'an operation that is not described';
    }
    if (standing === 'unscoped' && endpoint.scope !== undefined && status !== 403)
      return 'let in without the scope';
    const answer = endpoint.answers.get(status);
    if (!answer) return 'a status that is not described';
    for (const name of answer.headers)
      if (headers[name] === undefined) return `no header ${name}, which is described`;
    const isHead = made.method === 'HEAD';
    if (answer.problemOf === null || isHead) {
      if (text !== '') return 'a body where none is described';
      return isHead && answer.problemOf && headers['content-type'] !== 'application/json'
        ? `the content type ${headers['content-type']}`
        : undefined;
    }
    if (headers['content-type'] !== 'application/json') return `the content type ${headers['content-type']}`;
    if (reply.json === undefined) return 'a body that is no JSON';
    const problem = answer.problemOf(reply.json);
    if (problem) return `a body that is not as described: ${problem}`;
    if (status === 400 && standing === 'known' && made.changes.length === 0 && !breaksSchema(made)) {
      const refusal = storedProblems && messagesOf(reply.json).find((one) => !storedProblems.test(one));
      if (refusal) return `it refused what its description allows: ${refusal}`;
    }
    return status < 300 && breaksSchema(made) ? 'it took a body that its schema forbids' : undefined;
  };
};

const messagesOf = ({ details, error, message }: Json): readonly string[] =>
  details?.map((one: Json) => one.message) ?? [error ?? message];

/**
 * Whether a body is not what its operation's schema asks for, read as the contract says ("Blank and null"): texts
 * are trimmed before they are measured, blank ones are null, and on a create null counts as absent.
 */
export const breaksSchema = ({ endpoint, body }: MadeRequest): boolean => {
  if (endpoint.body === null || body === undefined) return false;
  try {
    // As the service reads it: a byte order mark is passed over.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body as string));
    const trimmed = (_: string, value: unknown) =>
      typeof value !== 'string' ? value : isBlank(value) ? '' : value.trim();
    const given: unknown = JSON.parse(text === '' ? '{}' : text, trimmed);
    return !endpoint.allows(given) && !endpoint.allows(withoutBlanks(given, endpoint.method));
  } catch {
    return true;
  }
};

const withoutBlanks = (given: unknown, method: string): unknown => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const fields = Object.entries(given).map(([name, value]) => [name, value === '' ? null : value] as const);
  return Object.fromEntries(method === 'POST' ? fields.filter(([, value]) => value !== null) : fields);
};
