import {
  keepPreviousData,
  useMutationState,
  useQuery,
  useMutation as useQueuedMutation,
} from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { call, useMutation } from '../../model/client.ts';
import { KindChoices } from '../../model/kind-choices.tsx';
import { type Notice, noticeSettingsQuery, noticesQuery } from '../../model/queries.ts';
import { queryClient } from '../../model/query-client.ts';
import { useSession } from '../../model/session.ts';
import { LinkButton } from '../../ui/button.tsx';
import { useFilters } from '../../ui/filters.ts';
import { Card, Page, Quiet } from '../../ui/layout.tsx';
import { Empty, Loaded, Notice as NoticeBox } from '../../ui/states.tsx';
import { type Column, Pager, Table, timeColumn } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { toast, toastError } from '../../ui/toast.ts';
import { Badge } from '../../ui/values.tsx';
import s from './notifications-page.module.css';

export function NotificationsPage() {
  const { tab = 'list' } = useSearch({ from: '/in/notifications' });
  const navigate = useNavigate({ from: '/notifications' });
  return (
    <Page
      title="Notifications"
      description="What happened to subscriptions, keys and members, and how you are told."
    >
      <Tabs
        label="Notifications"
        value={tab}
        tabs={[
          { id: 'list', label: 'Latest' },
          { id: 'settings', label: 'Your mails' },
        ]}
        onChange={(id) => void navigate({ search: id === 'list' ? {} : { tab: id } })}
      >
        {tab === 'list' && <NoticeList />}
        {tab === 'settings' && <MailSettings />}
      </Tabs>
    </Page>
  );
}

function NoticeList() {
  const { cursor } = useSearch({ from: '/in/notifications' });
  const { pager } = useFilters({ cursor });
  const query = useQuery({ ...noticesQuery({ cursor }), placeholderData: keepPreviousData });
  const { mutate: markRead } = useMutation({
    mutationFn: (upTo: number) => call('readNotices', { body: { upTo } }),
  });
  const newest = cursor === undefined ? query.data?.notices[0] : undefined;
  const unread = newest && !newest.read ? newest.id : undefined;
  // They stay marked as new until the page is left.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each newest notice
  useEffect(() => (unread === undefined ? undefined : () => markRead(unread)), [unread]);
  return (
    <Card flush>
      <Table
        query={query}
        label="Latest notifications"
        columns={columns}
        rows={query.data?.notices}
        rowKey={(notice) => notice.id}
        emptyState={
          <Empty
            title="No notifications yet"
            action={
              <LinkButton to="/notifications" search={{ tab: 'settings' }}>
                Choose your mails
              </LinkButton>
            }
          >
            You are told here when a subscription fails, a key nears its limit, or a role changes.
          </Empty>
        }
      />
      <Pager {...pager} page={query.data} />
    </Card>
  );
}

const columns: readonly Column<Notice>[] = [
  {
    header: 'What happened',
    phone: 'title',
    grow: true,
    cell: (notice) => (
      <p className={s.line}>
        <Link to={notice.path}>
          <strong dir="auto">{notice.title}</strong>
        </Link>{' '}
        {!notice.read && <Badge tone="accent">New</Badge>}{' '}
        <Quiet small>
          <span data-tip={notice.text}>{notice.text}</span>
        </Quiet>
      </p>
    ),
  },
  timeColumn('When', (notice) => notice.createdUtc, { align: 'end', phone: 'time' }),
];

type Mails = Readonly<Record<string, boolean>>;
const changeOfMails = ['change of mails'];

function MailSettings() {
  const query = useQuery(noticeSettingsQuery);
  const { email } = useSession().user;
  // Boxes may be pressed faster than the service answers: each press is carried out, in its turn.
  const { mutate: change } = useQueuedMutation({
    mutationKey: changeOfMails,
    scope: { id: 'mails' },
    mutationFn: (mail: Mails) => call('updateNoticeSettings', { body: { mail } }),
    onSuccess: (settings) => {
      // Until the page has asked again, it would show the choice of before.
      queryClient.setQueryData(noticeSettingsQuery.queryKey, settings);
      toast('Mails changed');
    },
    onError: toastError,
  });
  const changes = useMutationState({
    filters: { mutationKey: changeOfMails, status: 'pending' },
    select: ({ state }) => state.variables as Mails,
  });
  const changed: Mails = Object.assign({}, ...changes);
  return (
    <Loaded query={query}>
      {({ mailsFrom, kinds }) => (
        <Card
          title="Your mails"
          description={
            mailsFrom === null ? undefined : `They go to ${email}, from ${mailsFrom}. Bursts go in one mail.`
          }
        >
          {mailsFrom === null && (
            <NoticeBox tone="info">
              This installation sends no mail. Your choices take effect when its operator sets SMTP_URL.
            </NoticeBox>
          )}
          <KindChoices
            offered={kinds}
            chosen={kinds.filter(({ kind, mail }) => changed[kind] ?? mail).map(({ kind }) => kind)}
            onChange={(pressed, on) => change(Object.fromEntries(pressed.map((kind) => [kind, on])))}
          />
        </Card>
      )}
    </Loaded>
  );
}
