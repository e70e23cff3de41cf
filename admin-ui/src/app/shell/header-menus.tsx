import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import {
  Bell as BellIcon,
  Building2,
  Check,
  Circle,
  Clock,
  List,
  LogOut,
  Monitor,
  Moon,
  ShieldCheck,
  Sun,
} from 'lucide-react';
import { useState } from 'react';
import { call } from '../../model/client.ts';
import { nameOfMember } from '../../model/members.ts';
import { latestNoticesQuery } from '../../model/queries.ts';
import { useSession, useSignOut } from '../../model/session.ts';
import {
  CompanyCode,
  type OtherCompany,
  showCompany,
  useSwitchCompany,
} from '../../model/switch-company.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { plural } from '../../ui/format.ts';
import { kept } from '../../ui/kept.ts';
import { Menu } from '../../ui/menu.tsx';
import { toastError } from '../../ui/toast.ts';
import { Badge, TimeAgo } from '../../ui/values.tsx';
import { chooseZone, chosenZone, cityOf, type ZoneChoice, zoneChoices, zoneOf } from '../../ui/zone.ts';
import s from './header-menus.module.css';

export function HeaderMenus() {
  return (
    <>
      <Bell />
      <UserMenu />
    </>
  );
}

function UserMenu() {
  const { user, company, otherCompanies } = useSession();
  const [asked, setAsked] = useState<OtherCompany | null>(null);
  const change = useSwitchCompany(showCompany);
  const name = nameOfMember(user);
  const navigate = useNavigate();
  const signOut = useSignOut();
  const [shownTheme, setTheme] = useState(themeOfPage);
  return (
    <>
      <Menu
        trigger={
          <button type="button" className={s.trigger}>
            <span aria-hidden="true">{initials(name)}</span>
            <span className="visually-hidden">Your account: {name}</span>
          </button>
        }
        heading={
          <>
            <p className={s.name} dir="auto">
              {name}
            </p>
            {user.name !== '' && <p className={s.email}>{user.email}</p>}
            <p className={s.company}>
              {company.name} <Badge tone="accent">{user.role}</Badge>
            </p>
          </>
        }
        actions={[
          ...otherCompanies.map((one) => ({
            label: `Switch to ${one.name}`,
            icon: <Building2 />,
            onSelect: () =>
              one.codeRequired ? setAsked(one) : change.mutate(one.id, { onError: toastError }),
          })),
          ...(otherCompanies.length > 0 ? (['separator'] as const) : []),
          {
            label: 'Your security',
            icon: <ShieldCheck />,
            onSelect: () => void navigate({ to: '/security' }),
          },
          ...zoneChoices.map((choice) => ({
            id: choice,
            label: zoneLabels[choice],
            detail: choice === 'utc' ? undefined : cityOf(zoneOf(choice)),
            icon: choice === chosenZone ? <Check /> : <Clock />,
            onSelect: () => chooseZone(choice),
          })),
          ...themes.map(({ theme, label, Icon }) => ({
            label,
            icon: theme === shownTheme ? <Check /> : <Icon />,
            onSelect: () => {
              showTheme(theme);
              setTheme(theme);
            },
          })),
          'separator',
          { label: 'Sign out', icon: <LogOut />, onSelect: () => signOut.mutate() },
        ]}
      />
      {asked && (
        <Dialog
          open
          onClose={() => setAsked(null)}
          title={`Switch to ${asked.name}`}
          description="This company requires your two-factor code."
          size="s"
        >
          <CompanyCode company={asked} onBack={() => setAsked(null)} onDone={showCompany} />
        </Dialog>
      )}
    </>
  );
}

const zoneLabels: Readonly<Record<ZoneChoice, string>> = {
  local: 'Local times',
  utc: 'Times in UTC',
};

const initials = (name: string): string => {
  const words = name.trim().split(/\s+/);
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words;
  return ends.map(firstCharacter).join('').toUpperCase();
};

/** The first character as people see it: an emoji or an accented letter is several code units. */
const firstCharacter = (word = ''): string =>
  // Most names need no segmenter, which takes the browser long to load.
  /^[a-z]+$/i.test(word) ? word.charAt(0) : ([...new Intl.Segmenter().segment(word)][0]?.segment ?? '');

const themes = [
  { theme: 'system', label: 'Theme of the system', Icon: Monitor },
  { theme: 'light', label: 'Light theme', Icon: Sun },
  { theme: 'dark', label: 'Dark theme', Icon: Moon },
] as const;

/** The latest notices. Those it shows count as read when it closes. */
function Bell() {
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
        {unread > 0 && plural(unread, '# unread notification')}
      </span>
    </span>
  );
}

type Theme = (typeof themes)[number]['theme'];

const keptTheme = kept('causeway.theme');

/** As `theme-init.js` has set it. */
const themeOfPage = (): Theme => {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
};

const showTheme = (theme: Theme): void => {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset.theme;
  else dataset.theme = theme;
  keptTheme.write(theme === 'system' ? null : theme);
};
