import { hasWords } from '../ui/format.ts';
import type { Answer } from './client.ts';

type Member = Answer<'listTeam'>['members'][number];

/** By name, or those first who have not signed in for longest. A search finds names, addresses and roles. */
export const listMembers = (
  members: readonly Member[],
  { q = '', sort }: { readonly q?: string | undefined; readonly sort?: 'idle' | undefined },
): readonly Member[] =>
  members
    .filter(({ name, email, role }) => hasWords(`${name} ${email} ${role}`, q))
    .sort((a, b) => (sort && byLastSignIn(a, b)) || byName(a, b));

export const hasFactor = ({ totpEnabled, passkeys }: Pick<Member, 'totpEnabled' | 'passkeys'>): boolean =>
  totpEnabled || passkeys > 0;

const byName = (a: Member, b: Member): number => nameOfMember(a).localeCompare(nameOfMember(b));
/** Members who never signed in count as idle for longest. */
const byLastSignIn = (a: Member, b: Member): number =>
  (a.lastSignInUtc ?? '').localeCompare(b.lastSignInUtc ?? '');

/** Members created by an operator have no name until they choose one. */
export const nameOfMember = ({ name, email }: { readonly name: string; readonly email: string }): string =>
  name || email;
