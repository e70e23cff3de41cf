import { Link } from '@tanstack/react-router';
import {
  BookOpen,
  CalendarDays,
  FlaskConical,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  ScrollText,
  Send,
  ShieldCheck,
  Users,
  Webhook,
} from 'lucide-react';
import { memo } from 'react';
import { Cut } from '../../ui/cut.tsx';
import { number } from '../../ui/format.ts';
import { useAttention, useLimitedKeys } from '../attention.ts';
import { Logo } from '../public-frame.tsx';
import { type Role, roleAtLeast, useSession } from '../session.ts';
import s from './navigation.module.css';

/** `plain` leaves out the company, for places that have a title. */
export const Navigation = memo(function Navigation({ plain }: { readonly plain?: boolean }) {
  const { company, user } = useSession();
  const counts = useCounts();
  return (
    <>
      {!plain && (
        <div className={s.company}>
          <Logo size={28} />
          <div>
            <p className={s.name}>
              <Cut text={company.name} />
            </p>
            <p className={s.product}>Causeway</p>
          </div>
        </div>
      )}
      <nav aria-label="Main" className={s.nav}>
        {pageGroups.map((group) => {
          const links = group.links.filter((link) => roleAtLeast(user.role, link.least));
          return (
            <div key={group.label ?? ''} className={s.group}>
              {group.label !== null && <p className={s.label}>{group.label}</p>}
              <ul>
                {links.map(({ to, label, icon: Icon }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      search={to === '/keys' && counts[to] ? { show: 'limited' } : {}}
                      className={s.link ?? ''}
                      activeOptions={{ exact: to === '/', includeSearch: false }}
                    >
                      <Icon size={16} />
                      <span className={s.text}>{label}</span>
                      <Count count={counts[to] ?? 0} />
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
    </>
  );
});

/** By page: how many of its entries need attention. */
const useCounts = (): Readonly<Record<string, number>> => {
  const attention = useAttention();
  const limited = useLimitedKeys();
  return {
    '/subscriptions': attention ? attention.offCount + attention.failingCount + attention.unverifiedCount : 0,
    '/keys': limited.length,
  };
};

function Count({ count }: { readonly count: number }) {
  if (count === 0) return null;
  return (
    <span className={s.count}>
      {number(count)}
      <span className="visually-hidden"> need attention</span>
    </span>
  );
}

interface PageLink {
  readonly to:
    | '/'
    | '/keys'
    | '/subscriptions'
    | '/deliveries'
    | '/events'
    | '/test'
    | '/developers'
    | '/team'
    | '/audit'
    | '/security';
  readonly label: string;
  readonly icon: LucideIcon;
  /** The least role that sees the page. */
  readonly least: Role;
  /** Further search terms. */
  readonly words: string;
}

interface PageGroup {
  readonly label: string | null;
  readonly links: readonly PageLink[];
}

/** The portal's pages in the order of the sidebar. */
export const pageGroups: readonly PageGroup[] = [
  {
    label: null,
    links: [
      {
        to: '/',
        label: 'Overview',
        icon: LayoutDashboard,
        least: 'viewer',
        words: 'home dashboard usage limits',
      },
    ],
  },
  {
    label: 'Webhooks',
    links: [
      {
        to: '/subscriptions',
        label: 'Subscriptions',
        icon: Webhook,
        least: 'viewer',
        words: 'webhooks endpoints urls',
      },
      {
        to: '/deliveries',
        label: 'Deliveries',
        icon: Send,
        least: 'viewer',
        words: 'log attempts resend replay',
      },
      { to: '/events', label: 'Events', icon: CalendarDays, least: 'viewer', words: 'payloads' },
      {
        to: '/test',
        label: 'Test delivery',
        icon: FlaskConical,
        least: 'developer',
        words: 'try sample send',
      },
    ],
  },
  {
    label: 'Integrate',
    links: [
      { to: '/keys', label: 'API keys', icon: KeyRound, least: 'viewer', words: 'tokens secrets scopes' },
      {
        to: '/developers',
        label: 'Developers',
        icon: BookOpen,
        least: 'viewer',
        words: 'docs quick start signature openapi',
      },
    ],
  },
  {
    label: 'Company',
    links: [
      {
        to: '/team',
        label: 'Team',
        icon: Users,
        least: 'developer',
        words: 'members roles invitations people',
      },
      { to: '/audit', label: 'Audit log', icon: ScrollText, least: 'admin', words: 'history changes who' },
      {
        to: '/security',
        label: 'Your security',
        icon: ShieldCheck,
        least: 'viewer',
        words: 'password two-factor sessions profile',
      },
    ],
  },
];
