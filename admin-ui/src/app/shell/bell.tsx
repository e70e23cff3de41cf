import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { Bell as BellIcon, Circle, List } from 'lucide-react';
import { call } from '../../model/client.ts';
import { latestNoticesQuery } from '../../model/notices.ts';
import { IconButton } from '../../ui/button.tsx';
import { plural } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { TimeAgo } from '../../ui/values.tsx';
import s from './overlays.module.css';

/** The latest notices. Those it shows count as read when it closes. */
export function Bell() {
  const { data } = useQuery({ ...latestNoticesQuery, refetchInterval: 30_000 });
  const navigate = useNavigate();
  const router = useRouter();
  const notices = data?.notices ?? [];
  const unread = data?.unread ?? 0;
  const [first] = notices;
  const read = (): void => {
    if (!first || unread === 0) return;
    // If this fails, they stay unread.
    call('readNotices', { body: { upTo: first.id } }).catch(() => {});
  };
  const count = `${unread >= 100 ? '99+' : unread}`;
  return (
    <span className={s.bell}>
      <Menu
        trigger={
          <IconButton
            label={unread === 0 ? 'Notifications' : `Notifications, ${count} unread`}
            icon={<BellIcon />}
          />
        }
        heading={<p className={s.name}>{first ? 'Notifications' : 'No notifications yet'}</p>}
        onClose={read}
        actions={[
          ...notices.map(({ id, title, path, createdUtc, read: isRead }) => ({
            id: String(id),
            label: title,
            detail: <TimeAgo time={createdUtc} />,
            icon: <Circle className={isRead ? s.read : s.unread} />,
            onSelect: () => void router.history.push(`/portal${path}`),
          })),
          ...(first ? (['separator'] as const) : []),
          {
            label: 'See all notifications',
            icon: <List />,
            onSelect: () => void navigate({ to: '/notifications' }),
          },
        ]}
      />
      {unread > 0 && (
        <span className={s.count} aria-hidden="true">
          {count}
        </span>
      )}
      <span className="visually-hidden" role="status">
        {unread > 0 && plural(unread, '# unread notification', '# unread notifications')}
      </span>
    </span>
  );
}
