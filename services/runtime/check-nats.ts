import type { NatsConnection } from '@nats-io/transport-node';
import { ConfigError } from './config.ts';

/**
 * Checks the server that the process is connected to.
 * @throws ConfigError with a sentence for each wrong setting, which says what to set.
 */
export const checkNats = async (nc: NatsConnection, inbox: string): Promise<void> => {
  const info = nc.info as (NatsConnection['info'] & { readonly jetstream?: boolean }) | undefined;
  if (!info) return;
  const { version, max_payload, headers, jetstream } = info;
  const wrong = [
    ...(isNewEnough(version) ? [] : [`its version is ${version}: use nats-server 2.14.3 or newer`]),
    ...(max_payload >= leastPayload ? [] : [`its max_payload is ${max_payload}: set max_payload: 4MB`]),
    ...(jetstream ? [] : ['it has no JetStream: set jetstream with a store_dir']),
    ...(headers ? [] : ['it allows no headers: remove no_header_support']),
    ...((await mayListen(nc, inbox))
      ? []
      : [
          `its user may not subscribe to ${inbox}: give each service its own user, with the permissions of deploy/nats`,
        ]),
  ];
  if (wrong.length > 0) throw new ConfigError(wrong.map((one) => `NATS_URL: ${one}`).join('\n'));
};

/** A body of 1 MiB and its answer must fit into one message each. */
const leastPayload = 4 * 2 ** 20;

/** Counter streams could corrupt a committed total before 2.12.12 and 2.14.3. */
const isNewEnough = (version: string): boolean => {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  if (major !== 2) return major > 2;
  return minor > 14 || (minor === 14 && patch >= 3) || (minor === 12 && patch >= 12);
};

const mayListen = async (nc: NatsConnection, inbox: string): Promise<boolean> => {
  let refused = false;
  const subscription = nc.subscribe(inbox, {
    callback: (error) => {
      refused ||= error !== null;
    },
  });
  // The refusal comes before the answer.
  await nc.flush();
  subscription.unsubscribe();
  return !refused;
};
