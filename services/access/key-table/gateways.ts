import { type GatewayAnswer, gatewayBucket, type KeyTableChange, keyRevokedSubject } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { createInbox } from '@nats-io/transport-node';

/** A gateway renews its entry each second and the entry lives five: after that it is dead or cut off. */
const maxWaitMs = 5000;
/** A gateway may have missed the broadcast while it reconnected, so it is told again. */
const repeatMs = 250;
/** All that this service's NATS user may listen to for answers (`deploy/nats`). */
const inboxPrefix = '_INBOX_access';

/**
 * Tells every live gateway of a change of the key table and waits until each has answered that its own
 * copy holds that version of the entry, or a newer one.
 *
 * Who lives is read from the bucket's leader after the change was written. A gateway that is not listed
 * there yet loads its table after it has registered, and so loads the change. A gateway that does not
 * answer in time is dead, or is cut off from NATS: then it cannot count requests and so accepts none, and
 * it reads the whole table again before it trusts it. So the wait is bounded, and what was promised holds
 * after it too.
 * @returns the instances that were live and did not answer.
 */
export const tellGateways = async ({ nc }: Bus, change: KeyTableChange): Promise<readonly string[]> => {
  const answered = new Set<string>();
  let wake: (() => void) | undefined;
  const inbox = createInbox(inboxPrefix);
  const subscription = nc.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      // Without any gateway the server answers by itself that nobody listens.
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
      // A subject of its own for each round: a gateway may answer what reached it, once.
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

/** Those whose entry has neither run out nor been taken back, which is how a gateway says that it leaves. */
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

/** "Stream not found", "no message found". */
const isMissing = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return code === 10059 || code === 10037;
};
