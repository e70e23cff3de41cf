import type { input, output, ZodType } from 'zod';
import type { ServiceName } from './subjects.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The five scopes of an API key (contract, "Identifiers, keys, scopes"). No scope implies another. */
export const scopes = [
  'integrations:read',
  'integrations:write',
  'events:read',
  'webhooks:write',
  'admin',
] as const;
export type Scope = (typeof scopes)[number];

/** Rate-limit buckets. `lookup` is counted as `read` unless the cluster gives it a limit of its own. */
export const buckets = ['read', 'write', 'admin', 'lookup'] as const;
export type Bucket = (typeof buckets)[number];

/** Which of the two error bodies an operation answers with (contract, "Requests and errors"). */
export type ErrorShape = 'general' | 'lookup';

/** One success answer of an operation. `schema` is null where there is no body (204). */
export interface SuccessAnswer {
  readonly description: string;
  readonly schema: ZodType | null;
  readonly example?: unknown;
}

/** A 4xx/5xx answer the operation's service itself gives, beside those every operation shares. */
export interface ErrorAnswer {
  readonly description: string;
  readonly example: unknown;
}

/**
 * One line of the contract. The gateway's routes, the services' handlers, the types and the OpenAPI
 * document all come from the table of these.
 */
export interface Operation<Id extends string = string> {
  /** Also the name of the handler and of its file, and OpenAPI’s `operationId` unless that is set. */
  readonly id: Id;
  /** OpenAPI's `operationId` where `id` is a name that client generators use themselves. */
  readonly operationId?: string;
  readonly method: Method;
  /** Relative to `/api/v1`; parameters in braces: `/integrations/leads/{client_id}`. */
  readonly path: string;
  readonly service: ServiceName;
  readonly scope: Scope;
  readonly bucket: Bucket;
  readonly errorShape: ErrorShape;
  /** After this the caller gets 504 (contract, "Requests and errors"). */
  readonly deadlineMs: number;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Path parameters in the order of the path. All are positive integer ids; anything else is a 404. */
  readonly params: Readonly<Record<string, string>>;
  /** A strict object of strings-in, values-out; null where no query parameter is known. */
  readonly query: ZodType | null;
  readonly body: ZodType | null;
  /** Longer bodies get 413, unread beyond it; `maxBodyBytes` where it is not given. */
  readonly maxBodyBytes?: number;
  readonly bodyExample?: unknown;
  readonly answers: Readonly<Record<number, SuccessAnswer>>;
  readonly errors: Readonly<Record<number, ErrorAnswer>>;
}

/** Bytes that a body of the interface may have (contract, "Requests and errors"). */
export const maxBodyBytes = 1024 * 1024;

/** The one version of the interface (contract, "Versioning"). */
export const basePath = '/api/v1';

/** Keeps the literal types of one operation, so that its parsed query, body and answers have types. */
export const defineOperation = <const O extends Operation>(operation: O): O => operation;

type Output<S> = S extends ZodType ? output<S> : Record<string, never>;

/** The parsed query of an operation, as `parseQuery` returns it. */
export type QueryOf<O extends { readonly query: ZodType | null }> = Output<O['query']>;

/** The parsed body of an operation, as `parseBody` returns it. */
export type BodyOf<O extends { readonly body: ZodType | null }> = Output<O['body']>;

/** A body as its sender writes it, before defaults and transformations. */
export type BodyInputOf<O extends { readonly body: ZodType | null }> = O['body'] extends ZodType
  ? input<O['body']>
  : undefined;

/** The body of an operation's success answers; undefined stands for no body (204). */
export type AnswerOf<O extends { readonly answers: Readonly<Record<number, SuccessAnswer>> }> = {
  [Status in keyof O['answers']]: O['answers'][Status] extends { readonly schema: infer S }
    ? S extends ZodType
      ? output<S>
      : undefined
    : never;
}[keyof O['answers']];
