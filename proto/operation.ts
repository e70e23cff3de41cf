import type { input, output, ZodType } from 'zod';
import { portalBasePath, portalBodyBytes, type Role } from './portal.ts';
import type { LaneName, ServiceName, WrittenKind } from './subjects.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

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

interface SuccessAnswer {
  readonly schema: ZodType | null;
}

interface DocumentedAnswer extends SuccessAnswer {
  readonly description: string;
  readonly example?: unknown;
}

interface ErrorAnswer {
  readonly description: string;
  readonly example: unknown;
}

/**
 * One operation of Causeway. The gateway's routes, the services' handlers, the portal's client and the
 * OpenAPI document come from the table of operations (`operations.ts`).
 * The audience of an operation is who may call it:
 * - `key`: programs with an API key, over HTTP below `/api/v1`. The key needs the operation's scope.
 * - `member`: people in the portal, over HTTP below `/portal/api/v1`, with at least the operation's role.
 * - `operator`: people who run the cluster, from the command line. Never reachable over HTTP.
 * The gateway (or the command line) authenticates the caller and sends the raw body over the lane of the
 * operation's service. There one adapter (`services/runtime/operations.ts`) checks the caller again and
 * parses query and body.
 */
export type Operation<Id extends string = string> =
  | KeyOperation<Id>
  | MemberOperation<Id>
  | OperatorOperation<Id>;

export type Audience = Operation['audience'];

interface AnyOperation<Id extends string> {
  /** Its name on the lanes, and OpenAPI's `operationId` unless that is set. */
  readonly id: Id;
  readonly service: ServiceName;
  /** When it passes, the caller gets 504 (contract, "Requests and errors"). */
  readonly deadlineMs: number;
  /** A strict object that parses strings into values; null if the operation has no query parameters. */
  readonly query: ZodType | null;
  readonly body: ZodType | null;
  /**
   * Why a call may be sent again when its answer is lost: doing it twice is `harmless`, as for every GET, or
   * its service carries it out `once` (`services/runtime/idempotency`). Without it, a call is sent once.
   */
  readonly repeat?: Repeat;
  /** A longer body gets 413 and is not read further. The default is `maxBodyBytes` or `portalBodyBytes`. */
  readonly maxBodyBytes?: number;
  readonly answers: Readonly<Record<number, SuccessAnswer>>;
}

type Repeat = 'harmless' | 'once';

export interface HttpOperation<Id extends string = string> extends AnyOperation<Id> {
  readonly audience: 'key' | 'member';
  readonly method: Method;
  /** Below the audience's base path: `/integrations/leads/{client_id}`. Parameters are IDs; others get 404 */
  readonly path: string;
}

export interface KeyOperation<Id extends string = string> extends HttpOperation<Id> {
  readonly audience: 'key';
  /** OpenAPI's `operationId` where `id` is a name that client generators use themselves. */
  readonly operationId?: string;
  /** Null: every valid key may call it. */
  readonly scope: Scope | null;
  /** Null: no limit counts it, so the gateway must bound it in another way. */
  readonly bucket: Bucket | null;
  /** What the gateway holds a request with `wait` for, if the lists in its answer are empty (contract, "Waiting"). */
  readonly waitsFor?: WrittenKind;
  readonly errorShape: ErrorShape;
  /** Reads, updates, creates or erases one record with a version (contract, "Versions"). */
  readonly versioned?: boolean;
  /** Few of them may be under way for a company at once (contract, "Batches"). */
  readonly isBatch?: boolean;
  /** Announced in every answer and in the document (contract, "Versioning"). */
  readonly deprecation?: Deprecation;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Descriptions of the path parameters, in the order of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly bodyExample?: unknown;
  /** What sets a field that the body may be expected to have and has not, for the error that names the field. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<number, DocumentedAnswer>>;
  readonly errors: Readonly<Record<number, ErrorAnswer>>;
}

interface Deprecation {
  readonly sinceUtc: string;
  /** When the operation may stop working. */
  readonly sunsetUtc?: string;
  /** A page that says what to use instead. */
  readonly link: string;
}

/** RFC 9745 and RFC 8594. */
export const deprecationHeaders = ({ sinceUtc, sunsetUtc, link }: Deprecation) =>
  [
    ['Deprecation', `@${Date.parse(sinceUtc) / 1000}`],
    ...(sunsetUtc ? ([['Sunset', new Date(sunsetUtc).toUTCString()]] as const) : []),
    ['Link', `<${link}>; rel="deprecation"; type="text/html"`],
  ] as const;

export interface MemberOperation<Id extends string = string> extends HttpOperation<Id> {
  readonly audience: 'member';
  /** The lowest role that may call it. Null: no session is needed, as for signing in. */
  readonly role: Role | null;
  /**
   * Of operations of `access`: the member must have proven who they are within the last minutes
   * (`PORTAL_PROOF_TIMEOUT`). Otherwise the answer is 403 `proof_required`, and `proveIdentity` comes first.
   */
  readonly freshProof?: boolean;
  /** Of operations of `access`: members whose company requires a second factor may call it before they have one. */
  readonly beforeFactor?: boolean;
  /** Statuses of its own, besides those that every operation of the portal may answer with. */
  readonly errors: readonly number[];
}

export interface OperatorOperation<Id extends string = string> extends AnyOperation<Id> {
  readonly audience: 'operator';
}

/** Maximum size of a request body of the interface (contract, "Requests and errors"). */
export const maxBodyBytes = 1024 * 1024;

/** Requests of agents of one company, at each gateway (contract, "Agents"). */
export const agentsAtOnce = 8;
/** Answered by `agents` with a tool's result: the request log has the tool's own request. */
export const calledHeader = 'X-Causeway-Called';
/** Of a request of an agent, and of an answer to it: far more than it can read, and each is in memory several times. */
export const maxAgentBytes = 512 * 1024;

/** The one version of the interface (contract, "Versioning"). */
export const basePath = '/api/v1';

export const memberDefaults = {
  audience: 'member',
  deadlineMs: 5000,
  query: null,
  body: null,
  errors: [],
} as const;

/** Its name follows from its export (`operations.ts`). */
type OneOperation = Unnamed<Operation>;
type Unnamed<O> = O extends Operation ? Omit<O, 'id'> : never;

interface SharedOperation extends Omit<AnyOperation<string>, 'id' | 'answers'> {
  readonly method?: Method;
  readonly callers: {
    readonly key?: CallerPart<KeyOperation>;
    readonly member?: CallerPart<MemberOperation>;
    readonly operator?: CallerPart<OperatorOperation>;
  };
}

type SharedField = keyof SharedOperation | 'audience' | 'id';
type CallerPart<O extends Operation> = Omit<O, SharedField> & Partial<Omit<O, 'audience'>>;

type OperationsByCaller<D extends SharedOperation> = {
  readonly [A in keyof D['callers'] & Audience]: Omit<D, 'callers' | keyof D['callers'][A]> &
    D['callers'][A] & { readonly audience: A };
};

export type Definition = Operation | { readonly callers: Readonly<Partial<Record<Audience, Operation>>> };

export type UnnamedDefinition = OneOperation | SharedOperation;

export type Named<Id, D> = D extends SharedOperation
  ? { readonly callers: OperationsByCaller<D & { readonly id: Id }> }
  : D & { readonly id: Id };

export type OperationIn<D> = D extends Operation
  ? D
  : D extends { readonly callers: infer Callers }
    ? Extract<Callers[keyof Callers], Operation>
    : never;

/** Keeps the literal types, so that parsed query, body and answers have types. */
export const defineOperation = <const D extends UnnamedDefinition>(definition: D): D => definition;

/** @param id of each operation that names no other */
export const named = (id: string, definition: UnnamedDefinition): Definition => {
  if (!('callers' in definition)) return { id, ...definition };
  const { callers, ...shared } = definition;
  const ofCallers = Object.entries(callers).map(([audience, own]) => [
    audience,
    { id, ...shared, ...own, audience },
  ]);
  return { callers: Object.fromEntries(ofCallers) };
};

export const operationsOf = (definition: Definition): readonly Operation[] =>
  'callers' in definition ? Object.values(definition.callers) : [definition];

export const errorShapeOf = (
  operation:
    | Pick<MemberOperation | OperatorOperation, 'audience'>
    | Pick<KeyOperation, 'audience' | 'errorShape'>
    | undefined,
): ErrorShape => (operation?.audience === 'key' ? operation.errorShape : 'general');

export const pathOf = ({ audience, path }: Pick<HttpOperation, 'audience' | 'path'>): string =>
  (audience === 'key' ? basePath : portalBasePath) + path;

export const paramsIn = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

export const bodyLimitOf = ({ audience, maxBodyBytes: own }: HttpOperation): number =>
  own ?? (audience === 'key' ? maxBodyBytes : portalBodyBytes);

export const repeatOf = (
  operation: Pick<Operation, 'repeat'> & { readonly method?: Method },
): Repeat | undefined => operation.repeat ?? (operation.method === 'GET' ? 'harmless' : undefined);

/** Whether an operation takes an `Idempotency-Key` (contract, "Idempotency"). */
export const takesIdempotencyKey = ({ method, repeat }: Pick<HttpOperation, 'method' | 'repeat'>): boolean =>
  method === 'POST' && repeat === 'once';

/** The lane of an operation. Operator operations have lanes of their own, which no gateway may send to. */
export const laneOf = ({ audience, service }: Pick<Operation, 'audience' | 'service'>): LaneName =>
  audience !== 'operator' ? service : service === 'access' ? 'operator' : `operator-${service}`;

type Output<S> = S extends ZodType ? output<S> : Record<string, never>;

export type QueryOf<O extends { readonly query: ZodType | null }> = Output<O['query']>;

export type BodyOf<O extends { readonly body: ZodType | null }> = Output<O['body']>;

/** A body as its sender writes it, before defaults and transformations. */
export type BodyInputOf<O extends { readonly body: ZodType | null }> = O['body'] extends ZodType
  ? input<O['body']>
  : undefined;

export type AnswerOf<O extends { readonly answers: Readonly<Record<number, SuccessAnswer>> }> = {
  [Status in keyof O['answers']]: O['answers'][Status] extends { readonly schema: infer S }
    ? S extends ZodType
      ? output<S>
      : undefined
    : never;
}[keyof O['answers']];
