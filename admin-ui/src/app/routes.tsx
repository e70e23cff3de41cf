import { createRoute, redirect } from '@tanstack/react-router';
import {
  Bell,
  BookOpen,
  Bot,
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
import { countsQuery, deliveriesQuery, deliveryQuery } from '../pages/deliveries/deliveries.ts';
import { noticesQuery } from '../pages/notifications/notices.ts';
import {
  agentPrograms,
  auditQuery,
  eventQuery,
  eventsQuery,
  eventTypesQuery,
  firstDeliveryStepsQuery,
  firstStepsQuery,
  keyPresetNames,
  keyQuery,
  keySorts,
  keysPageQuery,
  keyViews,
  languages,
  personQuery,
  sessionsQuery,
  statsQuery,
  subscriptionQuery,
  subscriptionsQuery,
  teamQuery,
  usageQuery,
} from '../pages/queries.ts';
import { subscriptionFilters, subscriptionSorts } from '../pages/subscriptions/subscriptions.ts';
import { memberFilters, memberSorts } from '../pages/team/list-members.ts';
import { attentionQuery, lastHourQuery } from './attention.ts';
import { lazyPage, load } from './lazy-page.ts';
import * as open from './public-routes.tsx';
import { NotFound } from './root-page.tsx';
import {
  anyNumber,
  anyText,
  auditSearch,
  deliveriesSearch,
  eventsSearch,
  keySearch,
  notificationsSearch,
  oneOf,
  overviewSearch,
  pathIds,
  searchOf,
} from './search.ts';
import { lacksFactor, type Role, roleAtLeast, sessionQuery } from './session.ts';
import type { PageLink } from './shell/navigation.tsx';
import { Shell } from './shell/shell.tsx';

const shellRoute = createRoute({
  getParentRoute: () => open.rootRoute,
  id: 'in',
  beforeLoad: async ({ context, location, cause }) => {
    // A page takes longer to render than a frame: the browser first paints the answer to the input.
    if (cause === 'stay') await new Promise((resolve) => setTimeout(resolve));
    const session = await context.queryClient.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (session === null) {
      const next = location.href === '/' ? undefined : location.href;
      throw redirect({ to: '/sign-in', search: { next } });
    }
    if (lacksFactor(session)) throw redirect({ to: '/second-factor' });
  },
  // For the badges of every page.
  loader: ({ context }) => load(context, attentionQuery, lastHourQuery),
  component: Shell,
});

const link = (
  group: PageLink['group'],
  label: PageLink['label'],
  icon: LucideIcon,
  least: Role,
  words: string,
) => ({
  link: { group, label, icon, least, words },
});
const [webhooks, integrate, company] = ['Webhooks', 'Integrate', 'Company'];
const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  staticData: link(undefined, 'Overview', LayoutDashboard, 'viewer', 'home dashboard usage limits'),
  validateSearch: overviewSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { range = '24h' } }) =>
    load(
      context,
      firstStepsQuery,
      firstDeliveryStepsQuery,
      usageQuery(range),
      statsQuery(range),
      countsQuery({ period: range === '30d' ? undefined : range }),
    ),
  component: lazyPage(() => import('../pages/overview/overview-page.tsx'), 'OverviewPage'),
});

const subscriptionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions',
  staticData: link(webhooks, 'Subscriptions', Webhook, 'viewer', 'webhooks endpoints urls'),
  validateSearch: searchOf({
    q: anyText,
    state: oneOf(subscriptionFilters),
    sort: oneOf(subscriptionSorts),
    page: anyNumber,
  }),
  loader: ({ context }) => load(context, subscriptionsQuery),
  component: lazyPage(() => import('../pages/subscriptions/subscriptions-page.tsx'), 'SubscriptionsPage'),
});

const newSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/new',
  loader: ({ context }) => load(context, subscriptionsQuery, eventTypesQuery),
  component: lazyPage(
    () => import('../pages/subscriptions/edit-subscription-pages.tsx'),
    'NewSubscriptionPage',
  ),
});

const subscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/$id',
  params: pathIds('id'),
  validateSearch: searchOf({ dialog: oneOf(['rotate', 'delete', 'disable', 'repair']) }),
  loader: ({ context, params: { id } }) =>
    load(context, subscriptionQuery(id), deliveriesQuery({ subscription: id }, 8)),
  component: lazyPage(() => import('../pages/subscriptions/subscription-page.tsx'), 'SubscriptionPage'),
});

const editSubscriptionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/subscriptions/$id/edit',
  params: pathIds('id'),
  loader: ({ context, params }) => load(context, subscriptionQuery(params.id), eventTypesQuery),
  component: lazyPage(
    () => import('../pages/subscriptions/edit-subscription-pages.tsx'),
    'EditSubscriptionPage',
  ),
});

const deliveriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries',
  staticData: link(webhooks, 'Deliveries', Send, 'viewer', 'log attempts resend replay'),
  validateSearch: deliveriesSearch,
  loaderDeps: ({ search }) => search,
  loader: ({ context, deps: { view, dialog, ...search } }) => {
    if (view === undefined) load(context, deliveriesQuery(search), countsQuery(search));
    load(context, subscriptionsQuery, eventTypesQuery);
  },
  component: lazyPage(() => import('../pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
});

const deliveryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/deliveries/$event/$subscription/$replay',
  params: pathIds('event', 'subscription', 'replay'),
  validateSearch: searchOf({ attempt: anyNumber, dialog: oneOf(['cancel', 'share']) }),
  loader: ({ context, params }) => load(context, deliveryQuery(params), eventQuery(params.event)),
  component: lazyPage(() => import('../pages/deliveries/delivery-page.tsx'), 'DeliveryPage'),
});

const replayRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/replays/$id',
  params: pathIds('id'),
  component: lazyPage(() => import('../pages/replays/replay-page.tsx'), 'ReplayPage'),
});

const eventsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events',
  staticData: link(webhooks, 'Events', CalendarDays, 'viewer', 'payloads'),
  validateSearch: eventsSearch,
  loaderDeps: ({ search: { dialog, ...search } }) => search,
  loader: ({ context, deps }) => load(context, eventsQuery(deps), eventTypesQuery),
  component: lazyPage(() => import('../pages/events/events-page.tsx'), 'EventsPage'),
});

const eventRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/events/$id',
  params: pathIds('id'),
  loader: ({ context, params: { id } }) =>
    load(context, eventQuery(id), deliveriesQuery({ event: id }), eventTypesQuery),
  component: lazyPage(() => import('../pages/events/event-page.tsx'), 'EventPage'),
});

const recordRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/clients/$id',
  params: pathIds('id'),
  loader: ({ context, params: { id } }) => load(context, personQuery(id), eventsQuery({ client: id })),
  component: lazyPage(() => import('../pages/records/record-page.tsx'), 'RecordPage'),
});

const testRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/test',
  staticData: link(webhooks, 'Test delivery', FlaskConical, 'developer', 'try sample send'),
  validateSearch: searchOf({ subscription: anyNumber, type: anyText }),
  loader: ({ context }) => load(context, subscriptionsQuery, eventTypesQuery),
  component: lazyPage(() => import('../pages/test/test-page.tsx'), 'TestPage'),
});

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  staticData: link(integrate, 'API keys', KeyRound, 'viewer', 'tokens secrets scopes'),
  validateSearch: searchOf({
    show: oneOf(keyViews),
    q: anyText,
    sort: oneOf(keySorts),
    cursor: anyText,
    key: anyNumber,
    dialog: oneOf(['create']),
    preset: oneOf(keyPresetNames),
    revoke: anyNumber,
  }),
  loader: ({ context }) => load(context, keysPageQuery({})),
  component: lazyPage(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
});

const keyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys/$id',
  params: pathIds('id'),
  validateSearch: keySearch,
  loader: ({ context, params }) => load(context, keyQuery(params.id)),
  component: lazyPage(() => import('../pages/keys/key-page.tsx'), 'KeyPage'),
});

const developersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  staticData: link(integrate, 'Developers', BookOpen, 'viewer', 'docs quick start signature openapi'),
  validateSearch: searchOf({
    tab: oneOf(['start', 'signatures', 'checker', 'settings']),
    language: oneOf(languages),
  }),
  component: lazyPage(() => import('../pages/developers/developers-page.tsx'), 'DevelopersPage'),
});

const agentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/agents',
  staticData: link(integrate, 'Agents', Bot, 'viewer', 'mcp ai assistant tools claude cursor'),
  validateSearch: searchOf({ program: oneOf(agentPrograms) }),
  component: lazyPage(() => import('../pages/agents/agents-page.tsx'), 'AgentsPage'),
});

const teamRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/team',
  staticData: link(company, 'Team', Users, 'developer', 'members roles invitations people'),
  validateSearch: searchOf({
    q: anyText,
    show: oneOf(memberFilters),
    sort: oneOf(memberSorts),
    page: anyNumber,
    member: anyNumber,
    dialog: oneOf(['invite', 'require-factor']),
    role: anyNumber,
    remove: anyNumber,
    password: anyNumber,
    factor: anyNumber,
  }),
  loader: ({ context }) => load(context, teamQuery),
  component: lazyPage(() => import('../pages/team/team-page.tsx'), 'TeamPage'),
});

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  staticData: link(company, 'Audit log', ScrollText, 'admin', 'history changes who'),
  validateSearch: auditSearch,
  loaderDeps: ({ search }) => search,
  // The page tells the other roles that they may not read it, without asking the server.
  loader: async ({ context, deps }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session && roleAtLeast(session.user.role, 'admin')) load(context, auditQuery(deps));
  },
  component: lazyPage(() => import('../pages/audit/audit-page.tsx'), 'AuditPage'),
});

const securityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/security',
  staticData: link(company, 'Your security', ShieldCheck, 'viewer', 'password 2fa passkeys sessions'),
  validateSearch: searchOf({
    dialog: oneOf(['name', 'password', 'totp-on', 'totp-off', 'codes', 'others', 'passkey']),
  }),
  loader: ({ context }) => load(context, sessionsQuery),
  component: lazyPage(() => import('../pages/security/security-page.tsx'), 'SecurityPage'),
});

const notificationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/notifications',
  staticData: link(company, 'Notifications', Bell, 'viewer', 'alerts mails slack webhook'),
  validateSearch: notificationsSearch,
  loader: ({ context }) => load(context, noticesQuery({})),
  component: lazyPage(() => import('../pages/notifications/notifications-page.tsx'), 'NotificationsPage'),
});

const notFoundRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFound });

/** All pages. Those with a `link` are in the sidebar, in this order. */
export const routeTree = open.rootRoute.addChildren([
  ...open.publicRoutes,
  shellRoute.addChildren([
    overviewRoute,
    subscriptionsRoute,
    newSubscriptionRoute,
    subscriptionRoute,
    editSubscriptionRoute,
    deliveriesRoute,
    deliveryRoute,
    replayRoute,
    eventsRoute,
    eventRoute,
    recordRoute,
    testRoute,
    keysRoute,
    keyRoute,
    developersRoute,
    agentsRoute,
    teamRoute,
    auditRoute,
    notificationsRoute,
    securityRoute,
    notFoundRoute,
  ]),
]);
