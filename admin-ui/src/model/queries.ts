import { keepPreviousData } from '@tanstack/react-query';
import { serverNow } from '../ui/reachability.ts';
import { type Answer, operationQuery } from './client.ts';
import type { eventsSearch } from './search.ts';

export const ranges = ['1h', '24h', '7d', '30d'] as const;
export type UsageRange = (typeof ranges)[number];

const liveOptions = { placeholderData: keepPreviousData, refetchInterval: 30_000 };

export const usageQuery = (range: UsageRange, keyId?: number) => ({
  ...operationQuery('getUsage', { query: { range, keyId } }),
  ...liveOptions,
});
export const statsQuery = (range: UsageRange) => ({
  ...operationQuery('getDeliveryStats', { query: { range } }),
  ...liveOptions,
});

export const firstStepsQuery = operationQuery('getFirstSteps', {});
export const firstDeliveryStepsQuery = operationQuery('getFirstDeliverySteps', {});

/** Matches every page of the list, for invalidation. */
export const keysQuery = operationQuery('listApiKeys', {});

export const keySorts = ['newest', 'used', 'unused'] as const;

export interface KeySearch {
  readonly show?: 'revoked' | undefined;
  readonly q?: string | undefined;
  readonly sort?: (typeof keySorts)[number] | undefined;
  readonly cursor?: string | undefined;
}

export const keysPageQuery = ({ show, q, sort, cursor }: KeySearch) =>
  operationQuery('listApiKeys', { query: { limit: 25, state: show ?? 'active', q, sort, cursor } });

/** Only developers may see them, and the next. */
export const keyRequestsQuery = ({ id, status, cursor }: KeyRequestsSearch) =>
  operationQuery('listKeyRequests', { params: { id }, query: { status: status && Number(status), cursor } });

export interface KeyRequestsSearch {
  readonly id: number;
  /** The first digit of the status. */
  readonly status: '2' | '4' | '5' | undefined;
  readonly cursor: string | undefined;
}

export const keyUseQuery = (id: number) => ({
  ...operationQuery('getKeyUse', { params: { id } }),
  refetchInterval: 15_000,
});

/** Null if the company has no such key. */
export const keyQuery = (id: number) => ({
  ...operationQuery('listApiKeys', { query: { ids: String(id) } }),
  select: ({ keys }: Answer<'listApiKeys'>) => keys[0] ?? null,
});

export const subscriptionsQuery = operationQuery('listPortalSubscriptions', {});

export const subscriptionQuery = (id: number) => operationQuery('getPortalSubscription', { params: { id } });

export const replaysQuery = (subscriptionId: number) =>
  operationQuery('listReplays', { query: { subscriptionId, limit: 5 } });

export const subscriptionSettingsQuery = operationQuery('getSubscriptionSettings', {});

export const eventTypesQuery = {
  ...operationQuery('listEventTypes', {}),
  staleTime: 3_600_000,
};

export type RecordSearch = Omit<ReturnType<typeof eventsSearch>, 'type' | 'cursor'>;

export const recordParameters = ({ client, invoice, email, external }: RecordSearch) => ({
  ...{ clientId: client, invoiceId: invoice, email, externalId: external },
});

export const eventsQuery = ({ type, cursor, ...record }: ReturnType<typeof eventsSearch>) =>
  operationQuery('listPortalEvents', { query: { type, ...recordParameters(record), cursor } });

export const eventQuery = (id: number) => operationQuery('getPortalEvent', { params: { id } });

export const personQuery = (id: number) => operationQuery('getPortalPerson', { params: { client_id: id } });

export const teamQuery = operationQuery('listTeam', {});

/** To the minute, so that a query stays the same for a while. */
export const minutesAgo = (minutes: number): string =>
  new Date((Math.floor(serverNow() / 60_000) - minutes) * 60_000).toISOString();

export const passkeysQuery = operationQuery('listPasskeys', {});

export const sessionsQuery = operationQuery('listSessions', {});

/** Keys for which the form comes filled in. */
export const keyPresetNames = ['form', 'reporting', 'sync', 'agent-read', 'agent-write'] as const;
export type KeyPresetName = (typeof keyPresetNames)[number];

export type Notice = Answer<'listNotices'>['notices'][number];
export type Channels = Answer<'getNoticeChannels'>;
export const channelNames = { webhook: 'Operational webhook', slack: 'Slack' } as const;

export const latestNoticesQuery = operationQuery('listNotices', { query: { limit: 6 } });

export const noticesQuery = ({ cursor }: { readonly cursor?: string | undefined }) =>
  operationQuery('listNotices', { query: { limit: 25, cursor } });

export const noticeSettingsQuery = operationQuery('getNoticeSettings', {});

export const noticeChannelsQuery = operationQuery('getNoticeChannels', {});
