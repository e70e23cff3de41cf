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
import type { Role } from '../session.ts';

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
