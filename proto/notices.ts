import type { Role } from './portal.ts';

/** What members are told while they are away (contract, "Notices"). The names are part of the operational webhook. */
export const noticeKinds = [
  'subscription_failing',
  'subscription_disabled',
  'subscription_recovered',
  'delivery_given_up',
  'limit_near',
  'key_expiring',
  'access_changed',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const noticeChannels = ['webhook', 'slack'] as const;
export type NoticeChannel = (typeof noticeChannels)[number];

/** The type of the message to the operational webhook. */
export const operationalType = (kind: NoticeKind | 'test') => `operational.${kind}` as const;
export type OperationalType = ReturnType<typeof operationalType>;

interface NoticeKindFacts {
  readonly title: string;
  readonly description: string;
  /** Roles below it neither see nor choose the kind. */
  readonly least: Role;
  /** Gets mail unless the member chooses otherwise. */
  readonly mailFrom: Role;
}

const forDevelopers = { least: 'viewer', mailFrom: 'developer' } as const;

export const noticeKindFacts: Readonly<Record<NoticeKind, NoticeKindFacts>> = {
  subscription_failing: {
    ...forDevelopers,
    title: 'Subscription failing',
    description: 'Five attempts in a row have failed, or the receiver answered 410 Gone.',
  },
  subscription_disabled: {
    ...forDevelopers,
    title: 'Subscription switched off',
    description: 'The API key of its tool was revoked or has expired.',
  },
  subscription_recovered: {
    ...forDevelopers,
    title: 'Subscription recovered',
    description:
      'A broken receiver accepts deliveries again, and has got what waited, was held or was missed.',
  },
  delivery_given_up: {
    ...forDevelopers,
    title: 'Delivery given up',
    description: 'The last attempt of a delivery has failed: the first one each day of each subscription.',
  },
  limit_near: {
    ...forDevelopers,
    title: 'API key near or over its limit',
    description:
      'A key has used 80 % of a limit in one minute, or was over it: each once a day for each key and limit.',
  },
  key_expiring: {
    ...forDevelopers,
    title: 'API key about to expire',
    description: 'A key expires in seven days, and again in one day.',
  },
  access_changed: {
    title: 'Members, roles and factors',
    description:
      'A member joined or left, or a role or a second factor changed. You are always shown changes of your own.',
    least: 'admin',
    mailFrom: 'admin',
  },
};
