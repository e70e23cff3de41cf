import type { Answer } from '../../api/types.ts';
import { nameOfMember } from '../../app/session.ts';

type Member = Answer<'listTeam'>['members'][number];

export const memberFilters = ['owner', 'admin', 'developer', 'viewer', 'without-totp'] as const;
export type MemberFilter = (typeof memberFilters)[number];

/** The members that match, by name. */
export const listMembers = (
  members: readonly Member[],
  { q = '', show }: { readonly q?: string | undefined; readonly show?: MemberFilter | undefined },
): readonly Member[] => {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return members
    .filter((member) => {
      if (show === 'without-totp' ? member.totpEnabled : show !== undefined && member.role !== show)
        return false;
      const text = `${member.name} ${member.email}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => nameOfMember(a).localeCompare(nameOfMember(b)));
};
