import type { Bundle, Trigger, ZObject } from 'zapier-platform-core';
import { verifyWebhook, WebhookInvalid } from '../../client/webhooks.ts';
import { basePath, type Json } from '../request.ts';
import { type EventKind, events, type Lookup, lookups } from '../table.ts';
import { nounOf, snake } from './names.ts';
import { send } from './send.ts';

const subscriptions = `${basePath}/webhooks/subscriptions`;

const triggerOf = ({ type, title, description, sample }: EventKind): Trigger => ({
  key: type.replace('.', '_'),
  noun: nounOf(type.split('.')[0]!),
  display: { label: title, description: `Triggers on the event ${type}. ${description}` },
  operation: {
    type: 'hook',
    performSubscribe: (z: ZObject, bundle: Bundle) =>
      send(z, bundle, {
        method: 'POST',
        path: subscriptions,
        query: {},
        body: { url: bundle.targetUrl, eventTypes: [type], name: `Zapier: ${title}`, managedBy: 'zapier' },
      }),
    performUnsubscribe: (z: ZObject, bundle: Bundle) =>
      send(
        z,
        bundle,
        { method: 'DELETE', path: `${subscriptions}/${bundle.subscribeData!.id}`, query: {} },
        { orMissing: true },
      ),
    perform: async (_z: ZObject, bundle: Bundle) => {
      const event = await eventIn(bundle);
      return event ? [event] : [];
    },
    performList: (z: ZObject, bundle: Bundle) => latest(z, bundle, type),
    sample,
  },
});

/** @returns undefined for what Causeway did not send, and for a test delivery: nothing happened */
const eventIn = async ({ rawRequest, subscribeData }: Bundle): Promise<Json | undefined> => {
  const headers = Object.entries(rawRequest?.headers ?? {}).map(([name, value]) => [
    // As Zapier names the headers of others.
    name.replace(/^http-/i, ''),
    value,
  ]);
  const { signingSecret = '' } = (subscribeData ?? {}) as { signingSecret?: string };
  const { content = '' } = rawRequest ?? {};
  try {
    const event = await verifyWebhook(content, Object.fromEntries(headers), signingSecret);
    return event.metadata?.test ? undefined : (event as unknown as Json);
  } catch (error) {
    if (error instanceof WebhookInvalid) return undefined;
    throw error;
  }
};

/** For the editor: what happened last, or a sample of the company's. */
const latest = async (z: ZObject, bundle: Bundle, type: string): Promise<object[]> => {
  const path = `${basePath}/events`;
  const { events: found } = await send(z, bundle, { method: 'GET', path, query: { type, limit: '3' } });
  if ((found as object[]).length > 0) return found as object[];
  const { samples } = await send(z, bundle, { method: 'GET', path: `${path}/samples`, query: { type } });
  return (samples as { event: object }[]).map(({ event }) => event);
};

/** Fills a drop-down. */
const lookupTrigger = ({ name, label, path, list, value, shown, isLead }: Lookup): Trigger => ({
  key: snake(name),
  noun: label,
  display: { label: `List of ${label}`, description: 'Fills a drop-down.', hidden: true },
  operation: {
    type: 'polling',
    perform: async (z: ZObject, bundle: Bundle) => {
      const answer = await send(z, bundle, { method: 'GET', path: basePath + path, query: {} });
      return (answer[list] as Json[])
        .filter(({ is_lead }) => isLead === undefined || is_lead === isLead)
        .map((item) => ({ id: String(item[value]), name: item[shown] }));
    },
    sample: { id: '7', name: 'Grace Murray' },
  },
});

export const triggers = Object.fromEntries(
  [...events.map(triggerOf), ...lookups.filter(({ isSearch }) => !isSearch).map(lookupTrigger)].map(
    (trigger) => [trigger.key, trigger],
  ),
);
