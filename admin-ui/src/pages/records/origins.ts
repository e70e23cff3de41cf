import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../model/client.ts';
import { nameOfMember } from '../../model/members.ts';
import { teamQuery } from '../../model/queries.ts';
import { roleAtLeast, useSession } from '../../model/session.ts';

/** Who caused something (contract, "Changes"), in words: the name of a key or a member. */
export const useOrigins = (origins: readonly (string | null)[]): ReadonlyMap<string, string> => {
  const { role } = useSession().user;
  const all = [...new Set(origins)].filter((origin) => origin !== null);
  const ids = all.flatMap((origin) => /^key:(\d+)$/.exec(origin)?.[1] ?? []).sort();
  const keys = useQuery({
    ...operationQuery('listApiKeys', { query: { ids: ids.slice(0, 200).join(), limit: 200 } }),
    enabled: ids.length > 0,
  }).data?.keys;
  const members = useQuery({
    ...teamQuery,
    enabled: roleAtLeast(role, 'developer') && all.some((origin) => origin.startsWith('member:')),
  }).data?.members;
  return new Map(
    all.map((origin) => {
      const [kind, id = ''] = origin.split(':');
      if (kind === 'key') return [origin, keys?.find((key) => String(key.id) === id)?.name ?? `Key ${id}`];
      if (kind !== 'member') return [origin, origin === 'system' ? 'The CRM' : 'An operator'];
      const member = members?.find((one) => String(one.id) === id);
      return [origin, member ? nameOfMember(member) : `Member ${id}`];
    }),
  );
};
