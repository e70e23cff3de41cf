import {
  type EventType,
  failuresUntilDisabled,
  failuresUntilProbing,
  ingestSubject,
  samplePayload,
} from '@causeway/proto';
import { connectBus } from '@causeway/runtime';
import type { Received, Receiver } from '@causeway/runtime/testing';
import { expect } from 'vitest';
import type { Team } from '../../api/support/portal.ts';
import type { Json, World } from '../../api/support/world.ts';

/** Creates real records for a team, and collects their deliveries. */
export interface Subscriber {
  /** The URL that deliveries of this team go to. */
  readonly url: string;
  readonly path: string;
  received(): readonly Received[];
  /** Sets the behaviour of the receiver from now on, such as `status=500`; by default it accepts everything. */
  behave(behaviour?: string): void;
  /** Subscribes through the portal, as a member; returns the subscription with its secret. */
  subscribe(more?: object): Promise<Json>;
  /** Creates clients with an API key; each causes `client.created`. */
  createClients(count: number): Promise<void>;
  /** Creates events as other modules of the CRM do, a hundred at a time. */
  createEvents(count: number, type?: EventType): Promise<void>;
  key(): Promise<string>;
}

export const openSubscriber = (world: World, receiver: Receiver, team: Team): Subscriber => {
  const path = `/${team.companyId}`;
  const url = `${receiver.url}${path}`;
  let made: Promise<string> | undefined;
  const key = (): Promise<string> => {
    made ??= world.operator
      .ask('createKey', {
        company_id: team.companyId,
        name: 'Website',
        scopes: ['integrations:read', 'integrations:write', 'events:read'],
      })
      .then(({ value }) => value);
    return made;
  };
  return {
    url,
    path,
    received: () => receiver.received.filter((one) => one.path === path),
    behave: (behaviour) => receiver.behave(path, behaviour),
    subscribe: async (more) => {
      const body = { url, name: 'Billing', eventTypes: ['client.created'], ...more };
      const { status, json } = await team.owner.browser.ask('POST', '/subscriptions', body);
      expect(status, JSON.stringify(json)).toBe(201);
      return json;
    },
    createClients: async (count) => {
      const value = await key();
      for (let at = 1; at <= count; at++) {
        const body = JSON.stringify({
          first_name: 'Käthe',
          last_name: `Kollwitz ${at}`,
          email: `kaethe${at}@example.com`,
        });
        const { status } = await world.ask('/integrations/clients', { method: 'POST', key: value, body });
        expect(status).toBe(201);
      }
    },
    createEvents: async (count, type = 'client.created') => {
      const payload = samplePayload(type, new Date());
      const request = JSON.stringify({ companyId: team.companyId, type, payload });
      const bus = await connectBus({ url: world.stack().natsUrl, name: 'test' });
      try {
        const made = Array.from({ length: count }, () =>
          bus.nc.request(ingestSubject, request, { timeout: 60_000 }),
        );
        for (const answer of await Promise.all(made)) expect(answer.json()).not.toHaveProperty('error');
      } finally {
        await bus.close();
      }
    },
    key,
  };
};

/** Lets the next failed probe disable a failing subscription; the dispatcher's tests see all fifteen probes. */
export const skipProbes = ({ sql }: World, companyId: number): Promise<unknown> =>
  sql(
    'UPDATE delivery_queues SET consecutive_failures = ? WHERE company_id = ? AND consecutive_failures BETWEEN ? AND ?',
    [failuresUntilDisabled - 1, companyId, failuresUntilProbing, failuresUntilDisabled - 2],
  );
