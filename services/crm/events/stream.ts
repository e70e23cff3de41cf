import { encodeEnvelope, eventStream, eventSubject, type StoredEvent } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import {
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';

/** The stream of committed events. */
export interface EventStream {
  /** Resolves when the server has stored it, or had it already. */
  publish(event: StoredEvent): Promise<void>;
  /** Makes the stream where it is missing. */
  ensure(): Promise<void>;
}

/** Consumers are seconds behind, not days; whoever comes later reads the table. */
const maxAgeHours = 24;
const maxMiB = 512;
/** A sweeper publishes again what it does not know to be stored; the server knows it by its id for so long. */
const duplicateWindowMinutes = 10;

/** Opens the stream. @param replicas copies of it in the NATS cluster. */
export const openEventStream = async (bus: Bus, replicas: number): Promise<EventStream> => {
  const js = jetstream(bus.nc, { timeout: ackTimeoutMs });
  const manager = await jetstreamManager(bus.nc, { checkAPI: false });
  const ensure = async (): Promise<void> => {
    try {
      await manager.streams.add({
        name: eventStream,
        subjects: [eventSubject('*', '*.*')],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
        max_age: maxAgeHours * 3600e9,
        max_bytes: maxMiB * 2 ** 20,
        duplicate_window: duplicateWindowMinutes * 60e9,
        num_replicas: replicas,
      });
    } catch (error) {
      // It is there with other limits: an operator has chosen them.
      if (!(error instanceof JetStreamApiError && error.code === nameInUse)) throw error;
    }
  };
  await ensure();
  return {
    ensure,
    publish: async (event) => {
      await js.publish(eventSubject(event.company_id, event.type), encodeEnvelope(event), {
        msgID: `${event.event_id}`,
      });
    },
  };
};

const ackTimeoutMs = 2_000;
const nameInUse = 10058;
