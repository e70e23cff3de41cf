import { probeSubject } from '@causeway/proto/subjects';
import { errors, nuid } from '@nats-io/nats-core';
import { connect, createInbox, type Msg, type NatsConnection, type Server } from '@nats-io/transport-node';
import type { Log } from './log.ts';
import { type Metrics, noMetrics } from './metrics.ts';
import { type NatsFiles, parseNatsUrl, tlsError } from './nats-address.ts';
import { guarded } from './report.ts';
import { runtimeMetrics } from './runtime-metrics.ts';
import { keepStandby, leaveReasons, type Standby } from './standby.ts';

export interface Bus {
  readonly nc: NatsConnection;
  connected(): boolean;
  /** A new subject to ask for answers at: the process's NATS user may listen to nothing else (`deploy/nats`). */
  inbox(): string;
  /** Called after each reconnect, when subscriptions have been sent again. */
  onReconnect(listener: () => void): void;
  onDisconnect(listener: () => void): void;
  /** For a server that answers but does no work: switches to another, if there is one and, as far as is known, it answers. */
  switchServer(reason: string): void;
  /** Resolves when the server has processed all sent so far, or the connection is lost. Never rejects. */
  flush(): Promise<void>;
  /** Flushes for at most a second, then closes. */
  close(): Promise<void>;
}

/**
 * Connects and stays connected. Reconnects forever, first at once and then every quarter of a second. It gives up a
 * silent server within six seconds, with a standby within half a second, and tries the other servers first. `name` also
 * chooses the inbox prefix `_INBOX_<name>`, which is all that the process's NATS user may listen to (`deploy/nats`).
 * @throws when no server of `url` can be reached within five seconds; ConfigError; TlsProblem.
 */
export const connectBus = async (options: BusOptions): Promise<Bus> => {
  const { url, files, name, instance, log, metrics = noMetrics } = options;
  const entry = parseNatsUrl(url, files);
  const servers = [entry.servers ?? []].flat().length;
  const connection = {
    ...entry,
    name: instance ?? name,
    inboxPrefix: `_INBOX_${name}`,
    timeout: 5000,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    pingInterval: 2000,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
    // Otherwise every request captures a stack trace in case it fails.
    noAsyncTraces: true,
  };
  let standby: Standby | undefined;
  const probe = probeSubject(name, nuid.next());
  const nc = await connect({
    ...connection,
    reconnectToServer: (known) => known.find(isAnswering(standby)) ?? longestUntried(known),
  }).catch((error: unknown) => {
    throw tlsError(error);
  });
  guardHandlers(nc, log);
  let up = true;
  const reconnected: (() => void)[] = [];
  const disconnected: (() => void)[] = [];
  void (async () => {
    for await (const status of nc.status()) {
      switch (status.type) {
        case 'disconnect':
          up = false;
          log?.warn({ server: status.server }, 'NATS connection lost');
          for (const listener of disconnected) guarded(listener);
          break;
        case 'reconnect':
          up = true;
          log?.info({ server: status.server }, 'NATS connection restored');
          for (const listener of reconnected) guarded(listener);
          break;
        case 'error':
          log?.error({ error: status.error }, 'NATS refused something');
          if (status.error instanceof errors.PermissionViolationError && status.error.subject === probe)
            standby?.stopProbing();
          break;
        case 'slowConsumer':
          log?.warn({ pending: status.pending }, 'NATS subscription fell behind');
          break;
        default:
      }
    }
  })();
  const connected = (): boolean => up && !nc.isClosed();
  const flush = async (): Promise<void> => {
    if (!connected()) return;
    // The client rejects a flush when the connection is lost, and never settles it when the connection is closed.
    await Promise.race([nc.flush(), nc.closed()]).catch(() => {});
  };
  const switches = metrics.counter(runtimeMetrics.nats_server_switches_total);
  const switchServer = (reason: string): void => {
    if (servers < 2 || !connected()) return;
    switches.cell(reason).value++;
    log?.warn({ server: nc.getServer(), reason }, 'moving to another NATS server');
    void nc.reconnect();
  };
  if (options.standby && servers > 1) {
    // Each series begins at 0, or Prometheus would see no increase at the first switch.
    for (const reason of leaveReasons) switches.cell(reason);
    standby = keepStandby({
      nc,
      connected,
      connection: { ...connection, name: `${instance ?? name} standby` },
      servers,
      probeSubject: probe,
      leave: switchServer,
      log,
    });
    metrics.gauge(runtimeMetrics.nats_standby_ready, () => (standby?.isReady() ? 1 : 0));
  }
  return {
    nc,
    connected,
    inbox: () => createInbox(connection.inboxPrefix),
    onReconnect: (listener) => reconnected.push(listener),
    onDisconnect: (listener) => disconnected.push(listener),
    switchServer: (reason) => {
      const other = standby?.answering();
      if (!standby || (other !== undefined && other !== nc.getServer())) switchServer(reason);
    },
    flush,
    close: async () => {
      // A drain would wait for a server that may be gone.
      await Promise.race([flush(), new Promise((done) => setTimeout(done, 1000).unref())]);
      await Promise.all([nc.close(), standby?.close()]);
    },
  };
};

/** Logs what a handler throws. Otherwise the client stops reading, and nothing arrives until a reconnect. */
const guardHandlers = (nc: NatsConnection, log: Log | undefined): void => {
  const subscribe = nc.subscribe.bind(nc);
  nc.subscribe = (subject, options) => {
    const handle = options?.callback;
    if (!handle) return subscribe(subject, options);
    const callback: typeof handle = (error, message) => {
      try {
        return handle(error, message);
      } catch (thrown) {
        log?.error({ subject, error: thrown }, 'message handler failed');
      }
    };
    return subscribe(subject, { ...options, callback });
  };
};

const isAnswering =
  (standby: Standby | undefined) =>
  ({ listen, lastConnect }: Server): boolean =>
    listen === standby?.answering() && Math.abs(Date.now() - lastConnect) > 250;

/** Not the lost server, which was tried latest: that would mean waiting for it again. */
const longestUntried = (servers: readonly Server[]): Server | null => {
  const [first = null, ...others] = servers;
  return others.reduce<Server | null>(
    (oldest, one) => (oldest && one.lastConnect < oldest.lastConnect ? one : oldest),
    first,
  );
};

interface BusOptions {
  readonly url: string;
  readonly files?: NatsFiles;
  /** The service's name: the NATS user and inbox prefix. */
  readonly name: string;
  readonly instance?: string;
  /** Also connects to a second server, if there is one, to notice sooner when the first fails. */
  readonly standby?: boolean;
  readonly log?: Log;
  readonly metrics?: Metrics;
}

/**
 * NATS checks who publishes to a subject, but its own servers may publish to every subject. A client that may create
 * a consumer or a stream can make JetStream deliver messages to any subject. Such a message has the reply subject of
 * an acknowledgement, or none, or the headers of a republished one. So each listener checks where a message came
 * from; lanes check their own reply subjects (`answersTo`).
 */

/** True for a client's request: its answer goes to a client's inbox. */
export const isRequest = ({ reply }: Pick<Msg, 'reply'>): boolean => reply?.startsWith('_INBOX') === true;

export const isNotice = ({ reply, headers }: Pick<Msg, 'reply' | 'headers'>): boolean =>
  !reply && !headers?.has('Nats-Stream') && !headers?.has('Nats-Sequence');

/** The unchecked items; undefined if no notice. Notices are arrays, the JetStream API's answers objects. */
export const readNotice = <Item>(message: Msg): readonly Item[] | undefined => {
  if (!isNotice(message)) return undefined;
  try {
    const items = message.json<Item[]>();
    return Array.isArray(items) ? items : undefined;
  } catch {
    return undefined;
  }
};
