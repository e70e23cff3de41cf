import { jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';

const bucket = 'limits';

/** Counts with the NATS server's own counters: one message per key; requests for a key in flight are coalesced. */
export interface StreamCounter {
  /** @returns the request's position in its window. */
  count(window: number, slot: number): Promise<number>;
}

/** A counter stream (ADR-49) that is also readable as the KV bucket `limits`. */
export const openStreamCounter = async (nc: NatsConnection): Promise<StreamCounter> => {
  const manager = await jetstreamManager(nc, { checkAPI: false });
  await manager.streams.add({
    name: `KV_${bucket}`,
    subjects: [`$KV.${bucket}.>`],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    max_age: 180e9,
    duplicate_window: 1e9,
    max_msgs_per_subject: 1,
    allow_msg_counter: true,
    allow_direct: true,
  });
  const waiting = new Map<string, ((position: number) => void)[]>();

  const send = async (subject: string): Promise<void> => {
    for (let group = waiting.get(subject); group && group.length > 0; group = waiting.get(subject)) {
      waiting.set(subject, []);
      const messageHeaders = headers();
      messageHeaders.set('Nats-Incr', `+${group.length}`);
      const reply = await nc.request(subject, undefined, { headers: messageHeaders, timeout: 5000 });
      const { val, error } = reply.json<{ val?: string; error?: { description: string } }>();
      if (val === undefined) throw new Error(`not counted: ${error?.description}`);
      for (const [at, resolve] of group.entries()) resolve(Number(val) - group.length + 1 + at);
    }
    waiting.delete(subject);
  };

  return {
    count: (window, slot) =>
      new Promise((resolve, reject) => {
        const subject = `$KV.${bucket}.${slot}.${window}`;
        const group = waiting.get(subject);
        if (group) {
          group.push(resolve);
          return;
        }
        waiting.set(subject, [resolve]);
        send(subject).catch(reject);
      }),
  };
};
