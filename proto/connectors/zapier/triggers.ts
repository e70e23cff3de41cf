import type { Bundle, Trigger, ZObject } from 'zapier-platform-core';
import { verifyWebhook, WebhookInvalid } from '../../client/webhooks.ts';
import { feedOf, readChanges, recordKinds, sampleChanges } from '../changes.ts';
import { basePath, type ConnectorRequest, type Json } from '../request.ts';
import { actions, type EventKind, events, type Lookup, lookups } from '../table.ts';
import { nounOf, snake } from './names.ts';
import { send } from './send.ts';

const subscriptions = `${basePath}/webhooks/subscriptions`;

/** As long as changes are kept. */
const cacheSeconds = 90 * 86_400;

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
        { emptyOn: 404 },
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

/**
 * Polls the changes feed. It reads from where the poll before the last one ended: what Zapier did not take the first time comes
 * again, and Zapier skips the ids that it has seen.
 */
const changesTrigger: Trigger = {
  key: 'record_changed',
  noun: 'Record',
  display: {
    label: 'Record created or changed',
    description: 'Triggers when a lead, client, affiliate or note was created or changed.',
  },
  operation: {
    type: 'polling',
    inputFields: [
      {
        key: 'kind',
        label: 'Records',
        type: 'string',
        default: 'person',
        choices: Object.fromEntries(recordKinds.map(({ name, value }) => [value, name])),
      },
    ],
    perform: async (z: ZObject, bundle: Bundle) => {
      const types = String(bundle.inputData.kind ?? 'person');
      const { isLoadingSample, isPopulatingDedupe, zap } = bundle.meta;
      const { baseUrl, apiKey } = bundle.authData;
      const request = (one: ConnectorRequest) => send(z, bundle, one, { emptyOn: 410 });
      type Rows = { id: string }[];
      if (isLoadingSample) return (await sampleChanges(request, types)) as Rows;
      const key = `changes ${zap?.id} ${feedOf(baseUrl!, apiKey!, types)}`;
      // A Zap that is switched on begins from now.
      const kept: { before: string; after: string } | null = isPopulatingDedupe
        ? null
        : await z.cache.get(key);
      const warn = (text: string) => z.console.log(text);
      const { records, cursor } = await readChanges(request, { types, from: kept?.before, warn });
      await z.cache.set(key, { before: kept?.after ?? cursor, after: cursor }, cacheSeconds);
      return records.toReversed() as Rows;
    },
    sample: {
      ...actions.find(({ operation, resource }) => operation === 'get' && resource === 'people')!.sample,
      id: 'person-9000000000001042-2',
    },
  },
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
  [
    ...events.map(triggerOf),
    changesTrigger,
    ...lookups.filter(({ isSearch }) => !isSearch).map(lookupTrigger),
  ].map((trigger) => [trigger.key, trigger]),
);
