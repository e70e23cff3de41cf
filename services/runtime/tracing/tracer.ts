/** What a value of a span may be; undefined is left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A piece of work that is being recorded. One that is not sampled does not exist: `undefined` takes its place. */
export interface Span {
  /** The W3C trace context that makes others children of it. */
  readonly traceparent: string;
  /** Whether it is still open. */
  readonly open: boolean;
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** @param type of low cardinality: a code or a class. Texts of errors hold what people typed, so none is kept. */
  fail(type: string): void;
  end(): void;
  /** Runs `work` so that what it does is done for this span. */
  run<Result>(work: () => Result): Result;
}

export interface SpanOptions {
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /**
   * What the work is done for: spans, or trace contexts of other processes. It becomes the child of the first that
   * is sampled. Where one statement serves many, the others are linked: from it to each of them, and back from those
   * that are still open here, so that each trace leads to the work that was shared. A parent by choice instead of
   * links alone, as OpenTelemetry's messaging conventions allow, because then the trace of a request that was alone
   * (most are) is whole.
   */
  readonly parents: readonly (Span | string | undefined)[];
  /** Begins a trace of its own where no parent is a trace context; else there is then no span. */
  readonly root?: boolean;
  readonly attributes?: Attributes;
}

/**
 * Makes spans. A process has one only where traces are exported (`openTracing`), so whoever asks
 * `tracer?.` pays for a null check otherwise.
 */
export interface Tracer {
  /** @returns undefined where nothing of it is sampled. */
  start(name: string, options: SpanOptions): Span | undefined;
  /** The open spans that the running code works for. */
  active(): readonly Span[];
  /** Runs `work` for these spans, and for no others. */
  run<Result>(spans: readonly Span[], work: () => Result): Result;
  /** Sends what is left; gives up after a few seconds. */
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
    // Also without a span: what is not sampled must not be taken for work of whoever happened to start it.
    return await tracer.run(span ? [span] : [], () => work(span));
  } catch (error) {
    span?.fail(errorType(error));
    throw error;
  } finally {
    span?.end();
  }
};

/** An error's code, or else its class. */
export const errorType = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.name;
};
