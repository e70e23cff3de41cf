import type { Msg, SubscriptionOptions } from '@nats-io/transport-node';
import { type Bus, isRequest } from '../bus.ts';

export interface EndpointCounts {
  requests: number;
  errors: number;
  lastError: string;
  elapsedMs: number;
}

interface MicroService {
  /** Does not wait for handlers. */
  drain(): Promise<void>;
}

/** Serves one endpoint as a NATS micro service (ADR-32), for `nats micro ls|ping|info|stats`. */
export const serveMicroService = (options: MicroServiceOptions): MicroService => {
  const { bus, name, id, metadata, endpoint, counts } = options;
  const { onMessage, ...described } = endpoint;
  const started = new Date().toISOString();
  const identity = (kind: string) => ({
    type: `io.nats.micro.v1.${kind}_response`,
    name,
    id,
    version: '1.0.0',
    metadata,
  });
  const answers: Readonly<Record<string, () => object>> = {
    PING: () => identity('ping'),
    INFO: () => ({ ...identity('info'), description: options.description, endpoints: [described] }),
    STATS: () => ({ ...identity('stats'), started, endpoints: [{ ...described, ...statsOf(counts) }] }),
  };
  const answer = (error: Error | null, message: Msg): void => {
    if (error || !isRequest(message)) return;
    const verb = message.subject.split('.')[1] ?? '';
    if (Object.hasOwn(answers, verb)) message.respond(JSON.stringify(answers[verb]!()));
  };

  const subscribe = (subject: string, more: SubscriptionOptions) => bus.nc.subscribe(subject, more);
  const subscriptions = [
    subscribe(endpoint.subject, { queue: endpoint.queue_group, callback: onMessage }),
    subscribe(options.ownSubject, { callback: onMessage }),
    ...['$SRV.*', `$SRV.*.${name}`, `$SRV.*.${name}.${id}`].map((subject) =>
      subscribe(subject, { callback: answer }),
    ),
  ];
  return {
    drain: async () => {
      if (!bus.connected()) for (const subscription of subscriptions) subscription.unsubscribe();
      else
        await Promise.race([
          Promise.allSettled(subscriptions.map((subscription) => subscription.drain())),
          bus.nc.closed(),
        ]);
    },
  };
};

const statsOf = ({ requests, errors, lastError, elapsedMs }: EndpointCounts) => ({
  num_requests: requests,
  num_errors: errors,
  last_error: lastError,
  processing_time: Math.round(elapsedMs * 1e6),
  average_processing_time: requests === 0 ? 0 : Math.round((elapsedMs * 1e6) / requests),
});

interface MicroServiceOptions {
  readonly bus: Bus;
  readonly name: string;
  readonly id: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly endpoint: {
    readonly name: string;
    readonly subject: string;
    readonly queue_group: string;
    readonly onMessage: (error: Error | null, message: Msg) => void;
  };
  readonly ownSubject: string;
  readonly counts: EndpointCounts;
}
