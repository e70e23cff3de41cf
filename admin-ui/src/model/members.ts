import type { Answer } from './client.ts';

type Member = Answer<'listTeam'>['members'][number];

export const memberFilters = ['owner', 'admin', 'developer', 'viewer', 'without-totp'] as const;
export type MemberFilter = (typeof memberFilters)[number];

export const memberSorts = ['name', 'role', 'recent', 'idle'] as const;
export type MemberSort = (typeof memberSorts)[number];

interface MemberSearch {
  readonly q?: string | undefined;
  readonly show?: MemberFilter | undefined;
  readonly sort?: MemberSort | undefined;
}

export const listMembers = (
  members: readonly Member[],
  { q = '', show, sort = 'name' }: MemberSearch,
): readonly Member[] => {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return members
    .filter((member) => {
      if (show === 'without-totp' ? hasFactor(member) : show !== undefined && member.role !== show)
        return false;
      const text = `${member.name} ${member.email}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => orders[sort](a, b) || byName(a, b));
};

export const hasFactor = ({ totpEnabled, passkeys }: Pick<Member, 'totpEnabled' | 'passkeys'>): boolean =>
  totpEnabled || passkeys > 0;

type Order = (a: Member, b: Member) => number;

const byName: Order = (a, b) => nameOfMember(a).localeCompare(nameOfMember(b));
const roles = ['owner', 'admin', 'developer', 'viewer'] as const;
/** Members who never signed in count as idle for longest. */
const byLastSignIn: Order = (a, b) => (a.lastSignInUtc ?? '').localeCompare(b.lastSignInUtc ?? '');

const orders: Readonly<Record<MemberSort, Order>> = {
  name: byName,
  role: (a, b) => roles.indexOf(a.role) - roles.indexOf(b.role),
  recent: (a, b) => byLastSignIn(b, a),
  idle: byLastSignIn,
};

/** Members created by an operator have no name until they choose one. */
export const nameOfMember = ({ name, email }: { readonly name: string; readonly email: string }): string =>
  name || email;
