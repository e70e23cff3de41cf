import { setTimeout as sleep } from 'node:timers/promises';
import { type IngestAnswer, ingestSubject, samplePayload } from '@causeway/proto';
import type { Bus } from '@causeway/runtime';
import type { Tenant } from './world.ts';

/** Creates events continuously, `width` at a time, while `mayGoOn` returns true; crm commits each before it answers. */
export const makeEvents = (
  bus: Bus,
  tenants: readonly Tenant[],
  { width, mayGoOn }: { readonly width: number; readonly mayGoOn: (made: number) => boolean },
): { made(): number; stop(): Promise<number> } => {
  let made = 0;
  let stopped = false;
  const requests = tenants.map(({ id }) =>
    JSON.stringify({
      companyId: id,
      type: 'client.created',
      payload: samplePayload('client.created', new Date()),
    }),
  );
  const loop = async (worker: number): Promise<void> => {
    for (let at = worker; !stopped; at++) {
      if (!mayGoOn(made)) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        continue;
      }
      const message = await bus.nc.request(ingestSubject, requests[at % requests.length] as string, {
        timeout: 10_000,
      });
      const answer = message.json<IngestAnswer>();
      if ('error' in answer) throw new Error(answer.error);
      made++;
    }
  };
  const loops = Array.from({ length: width }, (_, worker) => loop(worker));
  return {
    made: () => made,
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
      return made;
    },
  };
};

/** Creates events at a steady rate, for each tenant in turn. @returns how many. */
export const steadyEvents = async (
  bus: Bus,
  tenants: readonly Tenant[],
  perSecond: number,
  seconds: number,
  width = 8,
): Promise<number> => {
  const startedMs = performance.now();
  const events = makeEvents(bus, tenants, {
    width,
    mayGoOn: (made) => made < ((performance.now() - startedMs) / 1000) * perSecond,
  });
  await sleep(seconds * 1000);
  return events.stop();
};
