import type { Role } from '../../app/session.ts';

/** What each role may do, from the least to the most. Each includes those before it. */
export const roleWords: readonly {
  readonly role: Role;
  readonly label: string;
  readonly description: string;
}[] = [
  { role: 'viewer', label: 'Viewer', description: 'Sees everything but personal data, and changes nothing.' },
  {
    role: 'developer',
    label: 'Developer',
    description: 'Also manages API keys and subscriptions, sends tests and replays deliveries.',
  },
  { role: 'admin', label: 'Admin', description: 'Also invites and removes people, and reads the audit log.' },
  { role: 'owner', label: 'Owner', description: 'Also makes owners, changes them and removes them.' },
];
