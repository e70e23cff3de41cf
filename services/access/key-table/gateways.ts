import { type GatewayAnswer, gatewayBucket, type KeyTableChange, keyRevokedSubject } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { createInbox } from '@nats-io/transport-node';

/** A gateway renews its entry every second and the entry lives for five: after that it is dead or partitioned. */
const maxWaitMs = 5000;
/** A gateway may have missed the broadcast while it reconnected, so the broadcast is repeated. */
const repeatMs = 250;
/** The only inbox that this service's NATS user may subscribe to (`deploy/nats`). */
const inboxPrefix = '_INBOX_access';

/**
 * Announces a change of the key table to every live gateway and waits until each has confirmed that its copy holds
 * that version of the entry, or a newer one.
 *
 * The list of live gateways is read from the bucket's leader after the change was written. A gateway that is not
 * listed yet loads its table after it has registered, and so loads the change. A gateway that does not answer in time
 * is dead or partitioned from NATS: then it cannot count requests and so accepts none, and it reads the whole table
 * again before it trusts it. So the wait is bounded and the promise still holds afterwards.
 * @returns the instances that were live and did not answer.
 */
export const announceToGateways = async ({ nc }: Bus, change: KeyTableChange): Promise<readonly string[]> => {
  const answered = new Set<string>();
  let wake: (() => void) | undefined;
  const inbox = createInbox(inboxPrefix);
  const subscription = nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      // Without any gateway, the server itself answers "no responders".
      if (error || message.data.length === 0) return;
      answered.add(message.json<GatewayAnswer>().instance);
      wake?.();
    },
  });
  try {
    const registry = await jetstreamManager(nc, { checkAPI: false });
    const deadlineMs = performance.now() + maxWaitMs;
    let live: readonly string[] | undefined;
    for (let round = 1; ; round++) {
      // Each round has its own reply subject, because a gateway may answer a message only once.
      nc.publish(keyRevokedSubject, JSON.stringify(change), { reply: `${inbox}.${round}` });
      live = live ? await stillLive(registry, live) : await liveGateways(registry);
      const isSilent = (instance: string) => !answered.has(instance);
      const roundEndsMs = Math.min(performance.now() + repeatMs, deadlineMs);
      while (live.some(isSilent) && performance.now() < roundEndsMs) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(1, roundEndsMs - performance.now()));
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      live = live.filter(isSilent);
      if (live.length === 0 || performance.now() >= deadlineMs) return live;
    }
  } finally {
    subscription.unsubscribe();
  }
};

const streamOf = (bucket: string): string => `KV_${bucket}`;
const subjectPrefix = `$KV.${gatewayBucket}.`;

const liveGateways = async ({ streams }: JetStreamManager): Promise<readonly string[]> => {
  try {
    const { state } = await streams.info(streamOf(gatewayBucket), { subjects_filter: `${subjectPrefix}>` });
    return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(subjectPrefix.length));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** The gateways whose entry has neither expired nor been deleted; a gateway deletes its entry when it leaves. */
const stillLive = async (
  { streams }: JetStreamManager,
  instances: readonly string[],
): Promise<readonly string[]> => {
  const entries = await Promise.all(
    instances.map((instance) =>
      streams
        .getMessage(streamOf(gatewayBucket), { last_by_subj: subjectPrefix + instance })
        .catch((error: unknown) => {
          if (isMissing(error)) return null;
          throw error;
        }),
    ),
  );
  return instances.filter((_, at) => entries[at] && !entries[at].header.has('KV-Operation'));
};

/** "Stream not found" and "no message found". */
const isMissing = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return code === 10059 || code === 10037;
};
