import { convertedTo } from '../client/values.ts';
import type { Action } from './table.ts';

export interface ConnectorRequest {
  readonly method: Action['method'];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** What a person gave to a form, by the name of the field; a field that was left out is undefined. */
export type Values = Readonly<Record<string, unknown>>;

export const basePath = '/api/v1';

/** Of an address as a person enters it: with a slash at its end, or with the path that the portal shows. */
export const rootOf = (address: string): string =>
  address
    .trim()
    .replace(/\/+$/, '')
    .replace(/\/+api\/v1$/, '');

/**
 * The request of an action. A field that was emptied is sent as null, which clears it; what is not a value of its type is
 * sent as it is, so that the interface judges it.
 * @throws ConnectorProblem if an ID of the path is none
 */
export const requestOf = ({ method, path, fields }: Action, values: Values): ConnectorRequest => {
  const query: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  let filled = path;
  for (const { name, in: place, type, label } of fields) {
    const value = values[name];
    const text = String(value ?? '').trim();
    if (place === 'path') {
      // `..` would name another resource.
      if (!/^\d{1,16}$/.test(text)) throw new ConnectorProblem(400, `${label} must be a positive integer`);
      filled = filled.replace(`{${name}}`, text);
    } else if (value !== undefined) {
      if (place === 'body') body[name] = convertedTo(type, value);
      else if (text !== '') query[name] = String(value);
    }
  }
  return { method, path: basePath + filled, query, ...(method !== 'GET' && { body }) };
};

export type Json = Readonly<Record<string, unknown>>;

/** One record, or those that were found. */
export const recordsOf = ({ list }: Pick<Action, 'list'>, answer: Json): readonly Json[] =>
  list ? (answer[list] as readonly Json[]) : [answer];

/** A refusal, in a sentence for the person who made the workflow. */
export class ConnectorProblem extends Error {
  override readonly name = 'ConnectorProblem';
  readonly status: number;
  /** Seconds after which the request may succeed; absent if it will not by waiting. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, message: string, retryAfter?: number, requestId?: string) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }
}

/** Reads an answer that is not 2xx (contract, "Requests and errors"). Another server may have given it. */
export const problemOf = (status: number, answer: unknown, requestId?: string): ConnectorProblem => {
  const { error, message, details, retryAfter, retry_after_seconds, reason } = (
    typeof answer === 'object' && answer !== null ? answer : {}
  ) as Json;
  const sentences = Array.isArray(details) ? details.map((one) => String((one as Json).message)) : [];
  const text = typeof error === 'string' ? error : typeof message === 'string' ? message : '';
  const wait = Number(retryAfter ?? retry_after_seconds ?? (status === 503 ? 1 : Number.NaN));
  const said = sentences.length > 1 ? sentences.join('; ') : text;
  const fixedSentences: Readonly<Record<number, string>> = {
    401: 'The API key is not valid: create a key in the portal, and put it into the connection',
    403:
      reason === undefined && text.includes('scope')
        ? `${text}: add it to the key in the portal, or use another key`
        : text,
    429: `${text || 'Too many requests'}: retry after ${wait} s`,
  };
  const sentence = fixedSentences[status] || said || `Causeway answered with the status ${status}`;
  return new ConnectorProblem(status, sentence, Number.isNaN(wait) ? undefined : wait, requestId);
};
