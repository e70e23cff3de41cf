import { pause } from '../calls.ts';
import { type DeveloperCommand, UsageError } from './command.ts';

export const tail: DeveloperCommand = {
  about: 'Show the deliveries of a subscription as they happen',
  usage: '--subscription ID [--state STATE]',
  options: {
    subscription: ['ID', 'as `GET /webhooks/subscriptions` lists it'],
    state: ['STATE', 'only these: waiting, held, succeeded, failed, dropped, undelivered'],
  },
  notes: ['Needs a key with the scope webhooks:write, of whose reads it uses twenty a minute.'],
  run: async (causeway, { subscription = '', state }, _, { out, signal }) => {
    if (!/^[1-9]\d{0,15}$/.test(subscription)) throw new UsageError('--subscription takes a number');
    /** What was shown of each delivery, of the page that is read. */
    let shown: ReadonlyMap<string, string> | undefined;
    for (;;) {
      const { deliveries } = await causeway.subscriptions.listDeliveries(
        Number(subscription),
        { limit: 100, ...(state !== undefined && { state: state as 'failed' }) },
        { signal },
      );
      const lines = new Map(
        deliveries.toReversed().map((delivery) => {
          const result = delivery.lastStatusCode ?? delivery.lastErrorClass ?? '';
          return [
            delivery.id,
            `${delivery.id}  ${delivery.eventType}  ${delivery.state}  attempt ${delivery.attempts}  ${result}`,
          ] as const;
        }),
      );
      for (const [id, line] of lines) if (shown && shown.get(id) !== line) out(`${line.trimEnd()}\n`);
      if (!shown) out(`Deliveries of subscription ${subscription}, from now on\n`);
      shown = lines;
      await pause(everyMs, signal);
    }
  },
};

const everyMs = 3000;
