import {
  type Bucket,
  deprecationHeaders,
  type ErrorCode,
  type ErrorShape,
  errorShapeOf,
  type HttpOperation,
  isUnchanged,
  type KeyOperation,
  type MemberOperation,
  parseIdempotencyKey,
  type RenderedProblem,
  renderProblem,
  repeatOf,
  type ServiceName,
  takesIdempotencyKey,
} from '@causeway/proto';
import {
  childTraceparent,
  type createTurns,
  type LaneAnswer,
  type LaneCall,
  type LaneClient,
  type Log,
  logPlain,
  randomHex,
} from '@causeway/runtime';
import { invalidIdempotencyKey, problemOf, unsupportedEncoding } from './failures.ts';
import { type HeaderText, headerLines, writeAnswer } from './http/answer.ts';
import type { Bodies, Reading } from './http/body.ts';
import { type Head, reads } from './http/head.ts';
import type { HttpResponse } from './http/uws.ts';
import type { Header } from './limits/limiter.ts';
import type { RequestLog } from './request-log.ts';
import { methodName, type Traffic } from './traffic.ts';

export interface AnswerRules {
  readonly logged: string;
  readonly unnamed?: string;
  readonly always: readonly Header[];
  readonly api: readonly Header[];
  readonly shapeOf: (path: string) => ErrorShape;
  readonly translate: (headers: Readonly<Record<string, string>>) => readonly Header[];
}

export type AskedOperation = Pick<MemberOperation, 'id' | 'audience' | 'path'> | KeyOperation;

/** Answers once, or never if the client disconnects. A class, so that all requests share its functions. */
export class Exchange {
  readonly head: Head;
  readonly response: HttpResponse;
  readonly address: string;
  readonly requestId: string;
  readonly traceparent: string;
  readonly #gateway: ExchangeContext;
  readonly #rules: AnswerRules;
  readonly #startedMs = performance.now();
  #operation: AskedOperation | undefined;
  #params = noParams;
  #caller: Caller = nobody;
  /** Empty if no limit counted the request (contract, "Rate limits"). */
  #limitHeaders: readonly Header[] = noHeaders;
  #bucket: Bucket | '' | null = null;
  #onGone: (() => void) | undefined;
  #over = false;
  #listed = true;
  #heldMs = 0;
  #refusal: ErrorCode | undefined;
  #reading: Reading | undefined;

  constructor(
    gateway: ExchangeContext,
    response: HttpResponse,
    head: Head,
    address: string,
    rules: AnswerRules,
  ) {
    this.#gateway = gateway;
    this.#rules = rules;
    this.head = head;
    this.response = response;
    this.address = address;
    this.requestId = head.requestId || randomHex(12);
    this.traceparent = childTraceparent(head.traceparent);
    gateway.traffic.opened();
    response.onAborted(() => this.#aborted());
  }

  get over(): boolean {
    return this.#over;
  }

  identify(operation: AskedOperation, params = noParams): void {
    this.#operation = operation;
    this.#params = params;
  }

  /** The request that it has caused is in the request log instead. */
  leaveOutOfLog(): void {
    this.#listed = false;
  }

  calledBy(caller: Caller): void {
    this.#caller = caller;
  }

  /** The key was used. @param bucket empty: no limit counts such requests */
  counted(bucket: Bucket | '', headers = noHeaders): void {
    this.#bucket = bucket;
    this.#limitHeaders = headers;
  }

  /** Keeps the body until the exchange is over. Call it before the first await. */
  read(bodies: Bodies, maxBytes: number): Reading | undefined {
    const { bodyBytes, isEncoded } = this.head;
    if (bodyBytes === 0) return undefined;
    const refusal = isEncoded ? unsupportedEncoding() : undefined;
    this.#reading = bodies.read(this.response, bodyBytes, maxBytes, refusal);
    return this.#reading;
  }

  /** Stops the request's clock until the returned function is called. Call it once. */
  hold(onGone: () => void): () => void {
    const fromMs = performance.now();
    const end = (): void => {
      this.#heldMs ||= performance.now() - fromMs;
      this.#onGone = undefined;
    };
    this.#onGone = () => {
      end();
      onGone();
    };
    return end;
  }

  answer(status: number, body: Uint8Array | string | null, headers: readonly Header[]): void {
    if (this.#over) return;
    const { head } = this;
    this.#onGone = writeAnswer(
      this.response,
      { status, body, headers: this.#headers(headers) },
      {
        head: head.method === 'HEAD',
        after: head.loose ? 'sealed' : head.closes ? 'close' : this.#gateway.draining ? 'drain' : 'open',
        unsent: this.#gateway.traffic.unsent,
      },
    );
    this.#finish(status);
  }

  pass({ status, body, headers }: LaneAnswer): void {
    const { api, translate } = this.#rules;
    const { ifNoneMatch } = this.head;
    const base = body.length > 0 ? [jsonType, ...api] : api;
    const all = headers ? [...base, ...translate(headers)] : base;
    const isKnown =
      ifNoneMatch && headers?.ETag && reads(this.head.method) && isUnchanged(ifNoneMatch, headers.ETag);
    if (isKnown) this.answer(304, null, all);
    else this.answer(status, body, all);
  }

  refuse({ status, body, headers }: RenderedProblem): void {
    this.answer(status, body, [...this.#rules.api, ...Object.entries(headers)]);
  }

  fail(error: unknown): void {
    const facts = problemOf(error);
    this.#refusal = facts.code;
    if (facts.code === 'internal_error' && !this.#over) {
      const { requestId, traceparent } = this;
      this.#gateway.log.error(
        { error, requestId, traceparent, operation: this.#operation?.id },
        `${this.#rules.logged} failed`,
      );
    }
    const operation = this.#operation;
    const shape = operation ? errorShapeOf(operation) : this.#rules.shapeOf(this.head.path);
    this.refuse(renderProblem(shape, facts, this));
  }

  #headers(headers: readonly Header[]): HeaderText {
    const operation = this.#operation;
    const announced =
      operation && 'deprecation' in operation ? deprecationHeaders(operation.deprecation!) : noHeaders;
    const lines = headerLines(this.#rules.always) + headerLines(headers);
    return this.requestId + lines + headerLines(announced) + headerLines(this.#limitHeaders);
  }

  #finish(status: number): void {
    const { head, requestId, traceparent, address } = this;
    const operation = this.#operation;
    const durationMs = this.#end(status);
    const { companyId, keyId, userId } = this.#caller;
    logPlain(
      this.#gateway.log,
      {
        requestId,
        traceparent,
        address,
        method: head.method,
        operation: operation?.id ?? this.#rules.unnamed,
        companyId,
        keyId,
        userId,
        status,
        refusal: this.#refusal,
        durationMs: Math.round(durationMs * 1000) / 1000,
      },
      this.#rules.logged,
    );
  }

  #aborted(): void {
    this.#onGone?.();
    if (!this.#over) this.#end(clientGone);
  }

  #end(status: number): number {
    this.#over = true;
    this.#reading?.release();
    const operation = this.#operation;
    const name = operation?.id ?? this.#rules.unnamed;
    const durationMs = performance.now() - this.#startedMs;
    this.#gateway.traffic.finished(name, status, durationMs - this.#heldMs);
    const { companyId, keyId, isPrevious = false } = this.#caller;
    if (this.#listed && keyId !== undefined && companyId !== undefined)
      this.#gateway.requestLog.note({
        companyId,
        keyId,
        isPrevious,
        operation: name ?? '',
        method: methodName(this.head.method),
        params: this.#params,
        status,
        durationMs,
        requestId: this.requestId,
        address: this.address,
        bucket: this.#bucket,
      });
    return durationMs;
  }
}

interface Caller {
  readonly companyId?: number;
  readonly keyId?: number;
  readonly userId?: number;
  readonly isPrevious?: boolean | undefined;
}

export interface ExchangeContext {
  readonly log: Log;
  readonly traffic: Traffic;
  readonly requestLog: RequestLog;
  draining: boolean;
}

export interface Upstream {
  readonly lanes: Readonly<Record<ServiceName, LaneClient>>;
  /** One large body of a company at a time is with a service: a hundred at once would delay everybody. */
  readonly largeBodies: ReturnType<typeof createTurns>;
}

const clientGone = 499;
const nobody: Caller = {};
const noParams: readonly string[] = [];
const noHeaders: readonly Header[] = [];
const jsonType: Header = ['Content-Type', 'application/json'];

/** Sends a request to the service of its operation. @throws LaneError, or Problem `timeout` if its turn came too late. */
export const callService = (
  { lanes, largeBodies }: Upstream,
  { requestId, traceparent, head }: Exchange,
  { operation, params }: { readonly operation: HttpOperation; readonly params: readonly string[] },
  caller: Pick<LaneCall, 'tenant' | 'caller' | 'key' | 'actor' | 'condition'>,
  body: Buffer,
  { query = head.query, spentMs = 0 }: { readonly query?: string; readonly spentMs?: number } = {},
): Promise<LaneAnswer> => {
  const deadlineMs = performance.now() + operation.deadlineMs - spentMs;
  const sending = sendingOf(operation, head, caller.caller);
  const send = () =>
    lanes[operation.service].request({
      operation: operation.id,
      requestId,
      traceparent,
      budgetMs: deadlineMs - performance.now(),
      params,
      query,
      body,
      ...caller,
      ...sending,
    });
  // Batches are bounded by their number.
  const takesTurn = body.length > largeBodyBytes && !('isBatch' in operation && operation.isBatch);
  return takesTurn ? largeBodies(caller.tenant, deadlineMs, send) : send();
};

/** Its JSON takes the service about a millisecond. */
const largeBodyBytes = 64 * 1024;

type Sending = Pick<LaneCall, 'callId' | 'repeatable' | 'idempotencyKey'>;

/** @throws Problem if the operation takes an `Idempotency-Key` and the client's is malformed. */
const sendingOf = (operation: HttpOperation, { idempotencyKey }: Head, caller: number): Sending => {
  const repeat = repeatOf(operation);
  const sending = { repeatable: repeat !== undefined, ...(repeat === 'once' && { callId: newCallId() }) };
  if (idempotencyKey === undefined || !takesIdempotencyKey(operation)) return sending;
  const key = parseIdempotencyKey(idempotencyKey);
  if (key === undefined) throw invalidIdempotencyKey();
  // A member's key is no key of the interface, nor another member's: a client's key has no space.
  return { ...sending, idempotencyKey: operation.audience === 'key' ? key : `member ${caller} ${key}` };
};

/** Begins with the time in milliseconds, so that rows are inserted in the order of their index. */
const newCallId = (): string => Date.now().toString(16).padStart(12, '0') + randomHex(10);
