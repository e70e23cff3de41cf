import type { Role } from '../../app/session.ts';

/** The roles, lowest first. Each includes the permissions of those before it. */
export const roleWords: readonly {
  readonly role: Role;
  readonly label: string;
  readonly description: string;
}[] = [
  { role: 'viewer', label: 'Viewer', description: 'Can view everything except personal data.' },
  {
    role: 'developer',
    label: 'Developer',
    description: 'Also manages API keys and subscriptions, sends tests and replays deliveries.',
  },
  { role: 'admin', label: 'Admin', description: 'Also invites and removes people, and reads the audit log.' },
  { role: 'owner', label: 'Owner', description: 'Also adds, changes and removes owners.' },
];
