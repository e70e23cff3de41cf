import type { NoticeKind } from '@causeway/proto';
import { Checkbox } from '../ui/form.tsx';

interface Group {
  readonly label: string;
  readonly description: string;
  readonly kinds: readonly NoticeKind[];
}

/** Kinds that are chosen together. */
const groups: readonly Group[] = [
  {
    label: 'Problems',
    description:
      'A receiver breaks or has caught up, a subscription is switched off, or a delivery is given up.',
    kinds: ['subscription_failing', 'subscription_disabled', 'subscription_recovered', 'delivery_given_up'],
  },
  {
    label: 'Access',
    description: 'A key is about to expire, a member joins or leaves, or a role or a second factor changes.',
    kinds: ['key_expiring', 'access_changed'],
  },
  {
    label: 'Usage',
    description: 'A key has used 80 % of a limit in one minute, or requests of it were refused.',
    kinds: ['limit_near'],
  },
];

interface KindChoicesProps {
  readonly offered: readonly { readonly kind: NoticeKind }[];
  readonly chosen: readonly NoticeKind[];
  readonly onChange: (kinds: readonly NoticeKind[], on: boolean) => void;
}

export function KindChoices({ offered, chosen, onChange }: KindChoicesProps) {
  return groups.map(({ label, description, kinds }) => {
    const own = offered.filter(({ kind }) => kinds.includes(kind));
    if (own.length === 0) return null;
    return (
      <Checkbox
        key={label}
        label={label}
        description={description}
        checked={own.every(({ kind }) => chosen.includes(kind))}
        onChange={(event) =>
          onChange(
            own.map(({ kind }) => kind),
            event.target.checked,
          )
        }
      />
    );
  });
}
