import type { Locator, Page } from '@playwright/test';
import type { Furnished } from './furnish.ts';
import { see } from './portal.ts';

export interface Place {
  /** Usable as a file name. */
  readonly name: string;
  /** Below `/portal/`. */
  readonly path: string;
  /** The heading or dialog that is visible when the page is complete. */
  readonly heading?: string | RegExp;
  readonly dialog?: string | RegExp;
}

/** Every page behind the sign-in, for a furnished company. */
export const pagesOf = (one: Furnished): readonly Place[] => [
  { name: 'overview', path: '', heading: 'Overview' },
  { name: 'subscriptions', path: 'subscriptions', heading: 'Subscriptions' },
  { name: 'subscription-new', path: 'subscriptions/new', heading: 'Add a subscription' },
  { name: 'subscription', path: `subscriptions/${one.healthy}`, heading: 'Billing' },
  { name: 'subscription-off', path: `subscriptions/${one.off}`, heading: 'Old bridge' },
  {
    name: 'subscription-again',
    path: `subscriptions/${one.healthy}?dialog=again`,
    heading: 'Billing',
  },
  { name: 'subscription-edit', path: `subscriptions/${one.healthy}/edit`, heading: 'Edit subscription' },
  { name: 'deliveries', path: 'deliveries', heading: 'Deliveries' },
  { name: 'deliveries-filtered', path: 'deliveries?status=503&state=waiting', heading: 'Deliveries' },
  { name: 'delivery', path: `deliveries/${one.delivery}`, heading: /client \d+$/i },
  { name: 'events', path: 'events', heading: 'Events' },
  { name: 'event', path: `events/${one.event}`, heading: /client \d+$/i },
  { name: 'client', path: `clients/${one.client}`, heading: /client \d+$/i },
  { name: 'deliveries-causes', path: 'deliveries?view=causes', heading: 'Deliveries' },
  { name: 'keys', path: 'keys', heading: 'API keys' },
  { name: 'keys-revoked', path: 'keys?show=revoked', heading: 'API keys' },
  { name: 'key', path: `keys/${one.key}`, heading: 'Zapier' },
  { name: 'usage', path: 'usage', heading: 'API usage' },
  { name: 'developers', path: 'developers', heading: 'Developers' },
  { name: 'team', path: 'team', heading: 'Team' },
  { name: 'company', path: 'company', heading: 'Company settings' },
  { name: 'audit', path: 'audit', heading: 'Audit log' },
  { name: 'notifications', path: 'notifications', heading: 'Notifications' },
  { name: 'notifications-mails', path: 'notifications?tab=settings', heading: 'Notifications' },
  { name: 'security', path: 'security', heading: 'Your security' },
  { name: 'not-found', path: 'nowhere', heading: 'Page not found' },
];

/** Every dialog that a URL opens. */
export const dialogsOf = (one: Furnished): readonly Place[] => [
  { name: 'dialog-key', path: 'keys?dialog=create', dialog: 'Create an API key' },
  { name: 'dialog-key-edit', path: `keys/${one.key}?dialog=edit`, dialog: 'Edit the API key' },
  { name: 'dialog-key-rotate', path: `keys/${one.key}?dialog=rotate`, dialog: 'Rotate the API key' },
  { name: 'dialog-key-preset', path: 'keys?dialog=create&preset=agent-write', dialog: 'Create an API key' },
  { name: 'dialog-revoke', path: `keys?q=Zapier&revoke=${one.key}`, dialog: 'Revoke “Zapier”?' },
  { name: 'dialog-test', path: `subscriptions/${one.healthy}?dialog=test`, dialog: 'Test “Billing”' },
  {
    name: 'dialog-rotate',
    path: `subscriptions/${one.healthy}?dialog=rotate`,
    dialog: 'Rotate the signing secret',
  },
  { name: 'dialog-delete', path: `subscriptions/${one.healthy}?dialog=delete`, dialog: 'Delete “Billing”?' },
  {
    name: 'dialog-disable',
    path: `subscriptions/${one.healthy}?dialog=disable`,
    dialog: 'Disable “Billing”?',
  },
  { name: 'dialog-catch-up', path: 'subscriptions?dialog=catch-up', dialog: 'Catch up' },
  { name: 'dialog-share', path: `deliveries/${one.delivery}?dialog=share`, dialog: 'Share delivery' },
  { name: 'dialog-invite', path: 'team?dialog=invite', dialog: 'Invite a member' },
  { name: 'dialog-channel', path: 'company?dialog=slack', dialog: 'Slack' },
  { name: 'dialog-role', path: `team?dialog=role&member=${one.member}`, dialog: /^Change the role of/ },
  {
    name: 'dialog-new-password',
    path: `team?dialog=password&member=${one.member}`,
    dialog: /^Reset the password of/,
  },
  { name: 'dialog-remove', path: `team?dialog=remove&member=${one.member}`, dialog: /^Remove/ },
  { name: 'dialog-name', path: 'security?dialog=name', dialog: 'Change your name' },
  { name: 'dialog-password', path: 'security?dialog=password', dialog: 'Change password' },
  { name: 'dialog-passkey', path: 'security?dialog=passkey', dialog: 'Add a passkey' },
  { name: 'dialog-two-factor', path: 'security?dialog=totp-on', dialog: 'Turn on two-factor sign-in' },
];

/** Opens the page, and waits until it has finished loading. */
export const goTo = async (page: Page, place: Place): Promise<void> => {
  await page.goto(place.path);
  await isComplete(page, place);
};

/** As `goTo`, by the router of an open page: the browser does not load the portal again, which takes half a second. */
export const moveTo = async (page: Page, place: Place): Promise<void> => {
  // The heading would not tell whether the router has arrived.
  const { heading, dialog } = place;
  const isAmbiguous =
    dialog === undefined && heading !== undefined && (await headingOf(page, heading).isVisible());
  if (page.url() === 'about:blank' || isAmbiguous) return goTo(page, place);
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/portal/${place.path}`)})`);
  await isComplete(page, place);
};

const headingOf = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('heading', { level: 1, name });

const isComplete = async (page: Page, { heading, dialog }: Place): Promise<void> => {
  if (heading !== undefined) await see(headingOf(page, heading)).toBeVisible();
  if (dialog !== undefined) await see(page.getByRole('dialog', { name: dialog })).toBeVisible();
  await see(page.locator('[aria-busy="true"]')).toHaveCount(0);
};
