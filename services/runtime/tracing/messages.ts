import { type Msg, type MsgHdrs, headers as natsHeaders } from '@nats-io/nats-core';
import { type Span, type Tracer, traced } from './tracer.ts';

/** The NATS header that carries the sender's W3C trace context. */
const header = 'traceparent';

/** Adds a span's trace context to a message's headers. */
export const setTrace = (headers: MsgHdrs, { traceparent }: Span): void => headers.set(header, traceparent);

/** The trace context of a message's sender; empty if there is none. */
export const traceOf = ({ headers }: { readonly headers?: MsgHdrs | undefined }): string =>
  headers?.get(header) ?? '';

/** Wraps a NATS request in a client span of the active work. @param ask sends it with these headers. */
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

/** Answers a NATS request in a server span. @param root whether to start a trace if the request has none. */
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
