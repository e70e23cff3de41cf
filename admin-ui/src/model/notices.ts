import { type Answer, operationQuery } from './client.ts';

export type Notice = Answer<'listNotices'>['notices'][number];
export type Channels = Answer<'getNoticeChannels'>;

export const latestNoticesQuery = operationQuery('listNotices', { query: { limit: 6 } });

export const noticesQuery = ({ cursor }: { readonly cursor?: string | undefined }) =>
  operationQuery('listNotices', { query: { limit: 25, cursor } });

export const noticeSettingsQuery = operationQuery('getNoticeSettings', {});

export const noticeChannelsQuery = operationQuery('getNoticeChannels', {});
