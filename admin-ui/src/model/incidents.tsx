import { useQuery } from '@tanstack/react-query';
import { plural } from '../ui/format.ts';
import { Quiet } from '../ui/layout.tsx';
import { Moment, TimeAgo } from '../ui/values.tsx';
import { causeOf } from './causes.ts';
import { type Answer, operationQuery } from './client.ts';
import { teamQuery } from './queries.ts';
import { useRefusal } from './session.ts';
import { UndeliveredLink } from './subscription-links.tsx';

export type Incident = Answer<'listPortalIncidents'>['incidents'][number];

/** The open incidents, of all subscriptions or of one. */
export const incidentsQuery = (subscriptionId?: number) => ({
  ...operationQuery('listPortalIncidents', { query: { state: 'open', subscriptionId } }),
  refetchInterval: 15_000,
});

export const useIncident = (subscriptionId: number): Incident | undefined =>
  useQuery(incidentsQuery(subscriptionId)).data?.incidents[0];

/** Who got a message of its beginning. Viewers see no list of members, and how many there were. */
export function IncidentTold({ incident: { told: messages } }: { readonly incident: Incident }) {
  const mayKnow = useRefusal('developer') === undefined;
  const members = useQuery({ ...teamQuery, enabled: mayKnow }).data?.members ?? [];
  const [first] = messages;
  if (!first) return null;
  const mailed = messages.filter(({ channel }) => channel === 'mail').map(({ memberId }) => memberId);
  const names = members.filter(({ id }) => mailed.includes(id)).map(({ name }) => name);
  const by = [
    ...(mailed.length > 0 ? [plural(mailed.length, '# member by mail', '# members by mail')] : []),
    ...messages.flatMap(({ channel }) => (channel === 'mail' ? [] : [channelNames[channel]])),
  ];
  return (
    <p>
      Told at <Moment time={first.utc} />: {by.join(', ')}.{' '}
      {names.length > 0 && <Quiet small>{names.join(', ')}</Quiet>}
    </p>
  );
}

const channelNames = { slack: 'Slack', webhook: 'the operational webhook' } as const;

/** Since when it is broken, what waits, and what comes next. */
export function IncidentFacts({ incident }: { readonly incident: Incident }) {
  const { subscriptionId, firstStatusCode: statusCode, firstErrorClass: errorClass } = incident;
  const { sinceUtc, recoveredUtc, undelivered, nextAttemptUtc, lastSuccessUtc } = incident;
  return (
    <>
      {causeOf({ errorClass, statusCode })?.title} since <Moment time={sinceUtc} />.{' '}
      {undelivered.count > 0 && (
        <>
          <UndeliveredLink undelivered={undelivered} search={{ subscription: subscriptionId }} />.{' '}
        </>
      )}
      {recoveredUtc !== null ? (
        <>
          It has answered again since <Moment time={recoveredUtc} />, and is catching up.
        </>
      ) : (
        <>
          {lastSuccessUtc !== null && (
            <>
              Last success: <TimeAgo time={lastSuccessUtc} />{' '}
            </>
          )}
          {nextAttemptUtc !== null && (
            <>
              Next attempt: <TimeAgo time={nextAttemptUtc} />
            </>
          )}
        </>
      )}
    </>
  );
}
