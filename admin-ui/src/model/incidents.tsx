import { useQuery } from '@tanstack/react-query';
import { Moment, TimeAgo } from '../ui/values.tsx';
import { causeOf } from './causes.ts';
import { type Answer, operationQuery } from './client.ts';
import { UndeliveredLink } from './undelivered.tsx';

export type Incident = Answer<'listPortalIncidents'>['incidents'][number];

/** The open incidents, of all subscriptions or of one. */
export const incidentsQuery = (subscriptionId?: number) => ({
  ...operationQuery('listPortalIncidents', { query: { state: 'open', subscriptionId } }),
  refetchInterval: 15_000,
});

export const useIncident = (subscriptionId: number): Incident | undefined =>
  useQuery(incidentsQuery(subscriptionId)).data?.incidents[0];

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
