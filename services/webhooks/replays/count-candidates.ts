import { invalidField, maxReplayDeliveries } from '@causeway/proto';
import { findReplayCandidates, type ReplaySelection } from '@causeway/runtime';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/**
 * Counts the events that a replay would deliver.
 * @throws Problem `invalid_request` if that takes too long, or there are more than a replay may deliver.
 */
export const countCandidates = async (db: Kysely<Tables>, selection: ReplaySelection): Promise<number> => {
  const limit = maxReplayDeliveries + 1;
  const wanted = { after: 0, limit, maxMs: maxCountMs };
  const { candidates, end } = await findReplayCandidates(db, selection, wanted);
  if (candidates.length === limit)
    throw invalidField(
      'since',
      `a replay makes at most ${maxReplayDeliveries} deliveries; choose a shorter time`,
    );
  if (!end) throw invalidField('since', 'there is too much to look through; choose a shorter time');
  return candidates.length;
};

const maxCountMs = 10_000;
