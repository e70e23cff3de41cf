import { Badge } from '../../ui/badge.tsx';
import { Quiet, Stack } from '../../ui/layout.tsx';
import type { Column } from '../../ui/table.tsx';
import { Moment, TimeAgo } from '../../ui/time-ago.tsx';
import { Changes } from './changes.tsx';
import { type Entry, namesTarget, wordsOf } from './words.ts';

export const columns: readonly Column<Entry>[] = [
  {
    id: 'what',
    header: 'What happened',
    phone: 'title',
    grow: true,
    cell: (entry) => (
      <Stack gap="xs">
        <p>
          <bdi>
            <strong>{entry.actor.name}</strong>
          </bdi>
          {entry.actor.kind !== 'user' && (
            <>
              {' '}
              <Badge>{actorKinds[entry.actor.kind]}</Badge>
            </>
          )}{' '}
          {wordsOf(entry)}{' '}
          {namesTarget(entry) && (
            <bdi>
              <strong>{entry.target.name}</strong>
            </bdi>
          )}
        </p>
        <Changes before={entry.before} after={entry.after} />
      </Stack>
    ),
  },
  {
    id: 'from',
    header: 'From',
    phone: 'detail',
    cell: (entry) =>
      entry.address === null ? (
        <Quiet>–</Quiet>
      ) : (
        <code data-tip={entry.userAgent ?? undefined}>{entry.address}</code>
      ),
  },
  {
    id: 'when',
    header: 'When',
    phone: 'time',
    align: 'end',
    cell: (entry) => (
      <Stack gap="xs">
        <TimeAgo time={entry.createdUtc} />
        <Quiet small>
          <Moment time={entry.createdUtc} />
        </Quiet>
      </Stack>
    ),
  },
];

const actorKinds = { key: 'API key', operator: 'operator', system: 'automatic' } as const;
