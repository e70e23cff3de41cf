import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card, Quiet, Stack } from '../ui/layout.tsx';
import { Loaded } from '../ui/states.tsx';
import { Badge, Cut, TimeAgo } from '../ui/values.tsx';
import s from './activity.module.css';
import { type Entry, namesTarget, targetLink, wordsOf } from './audit-words.ts';
import { operationQuery } from './client.ts';
import { roleAtLeast, useSession } from './session.ts';

interface ActivityProps {
  readonly kind: Entry['target']['kind'];
  readonly id: string | number;
}

/** What the audit log has about one thing, for those who may read the log. */
export function Activity(props: ActivityProps) {
  const { role } = useSession().user;
  return roleAtLeast(role, 'admin') ? <ActivityCard {...props} /> : null;
}

function ActivityCard({ kind, id }: ActivityProps) {
  const query = useQuery(
    operationQuery('listAudit', { query: { targetKind: kind, targetId: String(id), limit: 5 } }),
  );
  return (
    <Card
      title="Activity"
      actions={
        <Link to="/audit" search={{ kind, target: String(id) }}>
          Audit log
        </Link>
      }
    >
      <Loaded query={query}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Quiet>Nobody has changed this.</Quiet>
          ) : (
            <Stack>
              {entries.map((entry) => (
                <div key={entry.id}>
                  <Sentence entry={entry} short />
                  <Changes before={entry.before} after={entry.after} />
                  <Quiet small>
                    <TimeAgo time={entry.createdUtc} />
                  </Quiet>
                </div>
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Card>
  );
}

/** One line; what changed opens below it. */
export function EntryText({ entry, children }: { readonly entry: Entry; readonly children: ReactNode }) {
  const { before, after } = entry;
  const names = namesIn(before, after);
  return (
    <div className={s.entry}>
      <Sentence entry={entry} />
      {names.length > 0 && (
        <details>
          <summary>{names.length > maxUnfolded ? `${names.length} fields` : names.join(', ')}</summary>
          <Changes before={before} after={after} open />
        </details>
      )}
      {children}
    </div>
  );
}

/** @param props.short without the target, which the page is about. */
function Sentence({ entry, short }: { readonly entry: Entry; readonly short?: boolean }) {
  return (
    <p>
      <Cut strong text={entry.actor.name} />
      {entry.actor.kind !== 'user' && (
        <>
          {' '}
          <Badge>{actorKinds[entry.actor.kind]}</Badge>
        </>
      )}{' '}
      {wordsOf(entry)} {!short && namesTarget(entry) && <Target entry={entry} />}
    </p>
  );
}

function Target({ entry }: { readonly entry: Entry }) {
  const link = targetLink(entry);
  const name = <Cut strong text={entry.target.name} />;
  return link ? <Link {...link}>{name}</Link> : name;
}

const actorKinds = { key: 'API key', operator: 'operator', system: 'automatic' } as const;

type Fields = Readonly<Record<string, unknown>> | null;

const namesIn = (before: Fields, after: Fields): readonly string[] => [
  ...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]),
];

interface ChangesProps {
  readonly before: Fields;
  readonly after: Fields;
  /** Shows all of many fields. */
  readonly open?: boolean;
}

export function Changes({ before, after, open = false }: ChangesProps) {
  const names = namesIn(before, after);
  if (names.length === 0) return null;
  const list = (
    <dl className={s.changes}>
      {names.map((name) => {
        const was = before?.[name];
        const is = after?.[name];
        return (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {was !== undefined && <del>{formatValue(was)}</del>}
              {was !== undefined && is !== undefined && <span aria-hidden="true"> → </span>}
              {is !== undefined && <ins>{formatValue(is)}</ins>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
  if (open || names.length <= maxUnfolded) return list;
  return (
    <details className={s.folded}>
      <summary>{names.length} fields</summary>
      {list}
    </details>
  );
}

const maxUnfolded = 2;

const formatValue = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(formatValue).join(', ');
  if (value === null) return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
