import { type Msg, type MsgHdrs, headers as natsHeaders } from '@nats-io/nats-core';

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Work that is not sampled has no span: `undefined` takes its place. */
export interface Span {
  /** The W3C trace context of its children. */
  readonly traceparent: string;
  readonly open: boolean;
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** @param type a code or class of low cardinality. Error texts can hold personal data. */
  fail(type: string): void;
  end(): void;
  run<Result>(work: () => Result): Result;
}

export interface SpanOptions {
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** Spans, or trace contexts of other processes; the first sampled one is the parent, others are linked. */
  readonly parents: readonly (Span | string | undefined)[];
  /** Starts a new trace if no parent has a trace context. */
  readonly root?: boolean;
  readonly attributes?: Attributes;
}

/** A process has a tracer only if traces are exported; otherwise `tracer?.` costs a null check. */
export interface Tracer {
  /** @returns undefined if the work is not sampled. */
  start(name: string, options: SpanOptions): Span | undefined;
  active(): readonly Span[];
  run<Result>(spans: readonly Span[], work: () => Result): Result;
  /** Gives up after a few seconds. */
  close(): Promise<void>;
}

export const traced = async <Result>(
  tracer: Tracer | undefined,
  name: string,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<Result>,
): Promise<Result> => {
  if (!tracer) return work(undefined);
  const span = tracer.start(name, options);
  try {
    // Also without a span: unsampled work must not count as part of the span that happened to start it.
    return await tracer.run(span ? [span] : [], () => work(span));
  } catch (error) {
    span?.fail(errorType(error));
    throw error;
  } finally {
    span?.end();
  }
};

export const errorType = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.name;
};

const header = 'traceparent';

export const setTrace = (headers: MsgHdrs, { traceparent }: Span): void => headers.set(header, traceparent);

/** Empty if the sender had no trace. */
export const traceOf = ({ headers }: { readonly headers?: MsgHdrs | undefined }): string =>
  headers?.get(header) ?? '';

export const tracedAsk = <Answer>(
  tracer: Tracer | undefined,
  subject: string,
  ask: (headers: MsgHdrs | undefined) => Promise<Answer>,
): Promise<Answer> =>
  tracer
    ? traced(
        tracer,
        subject,
        { kind: 'client', parents: tracer.active(), attributes: rpc(subject) },
        (span) => {
          if (!span) return ask(undefined);
          const headers = natsHeaders();
          setTrace(headers, span);
          return ask(headers);
        },
      )
    : ask(undefined);

/** @param root whether to start a trace if the request has none */
export const tracedAnswer = (
  tracer: Tracer | undefined,
  message: Msg,
  { root }: { readonly root: boolean },
  answer: () => Promise<void>,
): Promise<void> => {
  const { subject } = message;
  if (!tracer) return answer();
  return traced(
    tracer,
    subject,
    { kind: 'server', parents: [traceOf(message)], root, attributes: rpc(subject) },
    answer,
  );
};

const rpc = (subject: string) => ({ 'rpc.system.name': 'nats', 'rpc.method': subject });
