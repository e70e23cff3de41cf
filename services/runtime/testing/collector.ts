import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly string[];
  readonly failed: boolean;
  readonly startMs: number;
  readonly endMs: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  readonly requests: readonly IncomingHttpHeaders[];
  behave(how: 'take' | 'refuse' | 'hang'): void;
  close(): Promise<void>;
}

export const openCollector = async (): Promise<Collector> => {
  const spans: CollectedSpan[] = [];
  const requests: IncomingHttpHeaders[] = [];
  let behaviour: Parameters<Collector['behave']>[0] = 'take';
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST' || request.url !== '/v1/traces') return response.writeHead(404).end();
    if (behaviour === 'hang') return;
    if (behaviour === 'refuse') return response.writeHead(400).end();
    requests.push(request.headers);
    spans.push(...spansOf(JSON.parse(Buffer.concat(chunks).toString()) as Export));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    behave: (how) => {
      behaviour = how;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const kinds = ['internal', 'server', 'client', 'producer', 'consumer'] as const;

const spansOf = ({ resourceSpans }: Export): CollectedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap((scope) => scope.spans)
      .map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        // 0 means unspecified; kinds start at 1.
        kind: kinds[span.kind - 1]!,
        attributes: attributesOf(span.attributes),
        links: (span.links ?? []).map(({ spanId }) => spanId),
        failed: span.status?.code === 2,
        startMs: Number(span.startTimeUnixNano) / 1e6,
        endMs: Number(span.endTimeUnixNano) / 1e6,
        resource: attributesOf(resource.attributes),
      })),
  );

const attributesOf = (pairs: readonly Pair[]): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));

interface Pair {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The parts used of https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes: readonly Pair[];
        readonly links?: readonly { readonly spanId: string }[];
        readonly status?: { readonly code?: number };
      }[];
    }[];
  }[];
}
