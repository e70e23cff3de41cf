/** A span attribute's value; undefined is left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A recorded piece of work. Work that is not sampled has no span: `undefined` takes its place. */
export interface Span {
  /** The W3C trace context that makes others children of it. */
  readonly traceparent: string;
  /** Whether it is still open. */
  readonly open: boolean;
  set(attributes: Attributes): void;
  rename(name: string): void;
  /**
   * @param type a code or class, of low cardinality. Error texts can hold personal data, so they are not recorded.
   */
  fail(type: string): void;
  end(): void;
  /** Runs `work` as part of this span. */
  run<Result>(work: () => Result): Result;
}

export interface SpanOptions {
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /**
   * The causes of the work: spans, or trace contexts of other processes. The span becomes the child of the first
   * sampled one. If one statement serves several requests, the span links to the other parents, and those still open
   * here link back, so that each trace leads to the shared work. OpenTelemetry's messaging conventions allow a parent
   * in place of links alone; this keeps the trace of a single request complete.
   */
  readonly parents: readonly (Span | string | undefined)[];
  /** Starts a new trace if no parent has a trace context. Otherwise such work has no span. */
  readonly root?: boolean;
  readonly attributes?: Attributes;
}

/**
 * Makes spans. A process has a tracer only if traces are exported (`openTracing`); otherwise `tracer?.` costs a null
 * check.
 */
export interface Tracer {
  /** @returns undefined if the work is not sampled. */
  start(name: string, options: SpanOptions): Span | undefined;
  /** The open spans of the running code. */
  active(): readonly Span[];
  /** Runs `work` for these spans, and for no others. */
  run<Result>(spans: readonly Span[], work: () => Result): Result;
  /** Sends the remaining spans; gives up after a few seconds. */
  close(): Promise<void>;
}

/** Runs `work` as a span from its start to its end; without a tracer it just runs. */
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

/** An error's code, or its class if it has none. */
export const errorType = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.name;
};
