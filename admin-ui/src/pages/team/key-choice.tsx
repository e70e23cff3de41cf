import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../../api/query.ts';
import { errorText } from '../../errors.ts';
import { Checkbox, Fieldset } from '../../ui/choice.tsx';
import { plural } from '../../ui/format.ts';
import { Quiet } from '../../ui/layout.tsx';
import { Notice } from '../../ui/notice.tsx';
import { MinuteAgo } from '../../ui/time-ago.tsx';
import s from './key-choice.module.css';

interface KeyChoiceProps {
  readonly memberId: number;
  /** The keys to keep; all others are revoked. */
  readonly keep: readonly number[];
  readonly onChange: (keep: readonly number[]) => void;
}

/** The keys a member created. They know the values, so they can use the keys without the portal. */
export function KeyChoice({ memberId, keep, onChange }: KeyChoiceProps) {
  const { data, error } = useQuery(memberKeysQuery(memberId));
  if (error) return <Notice tone="bad">{errorText(error)}</Notice>;
  if (!data) return <Quiet small>Loading the API keys they created…</Quiet>;
  const { keys } = data;
  if (keys.length === 0) return <Quiet small>They created no active API keys.</Quiet>;
  return (
    <Fieldset
      legend={`Revoke ${plural(keys.length, 'API key')} they created`}
      hint="They know the values of these keys. A revoked key stops working at once and cannot be restored."
    >
      <div className={s.keys}>
        {keys.map((key) => (
          <Checkbox
            key={key.id}
            label={key.name}
            description={
              <>
                <code>{key.masked}</code>,{' '}
                {key.lastUsedUtc === null ? (
                  'never used'
                ) : (
                  <>
                    last used <MinuteAgo time={key.lastUsedUtc} />
                  </>
                )}
              </>
            }
            checked={!keep.includes(key.id)}
            onChange={(event) =>
              onChange(event.target.checked ? keep.filter((id) => id !== key.id) : [...keep, key.id])
            }
          />
        ))}
      </div>
    </Fieldset>
  );
}

export const memberKeysQuery = (id: number) => operationQuery('listMemberKeys', { params: { id } });
