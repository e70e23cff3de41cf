import { type Msg, type MsgHdrs, headers as natsHeaders } from '@nats-io/nats-core';
import { type Span, type Tracer, traced } from './tracer.ts';

/** Where a NATS message carries the W3C trace context of whoever sent it. */
const header = 'traceparent';

/** Makes what becomes of the message part of a span's trace. */
export const setTrace = (headers: MsgHdrs, { traceparent }: Span): void => headers.set(header, traceparent);

/** The trace context of whoever sent a message; empty where there is none. */
export const traceOf = ({ headers }: { readonly headers?: MsgHdrs | undefined }): string =>
  headers?.get(header) ?? '';

/** A NATS request for whoever the code works for, as a client span. @param ask sends it, with these headers. */
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

/** Answers a NATS request, as a server span. @param root whether it begins a trace where it came without one. */
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
