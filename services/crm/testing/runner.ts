import { type Database, noMetrics } from '@causeway/runtime';
import { type ActionRunner, createRunner } from '../actions/runner.ts';
import { createEventLog, type EventLog } from '../events/event-log.ts';
import { createRecordIds } from '../store/ids.ts';
import type { Tables } from '../tables.ts';

type Publish = Parameters<typeof createEventLog>[0]['publish'];

export const testEventLog = (db: Database<Tables>, publish: Publish = () => {}): EventLog =>
  createEventLog({ publish, announce: () => {}, ids: createRecordIds(db).events });

/** A runner of its own, beside those of the booted service. */
export const testRunner = (db: Database<Tables>, events = testEventLog(db)): ActionRunner =>
  createRunner({ db, events, ids: createRecordIds(db), now: () => new Date(), metrics: noMetrics });
