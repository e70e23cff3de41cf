import { declareMetrics } from '@causeway/runtime';

export const dispatcherMetrics = declareMetrics({
  dispatcher_attempt_seconds: { type: 'histogram', help: 'Duration of delivery attempts' },
  dispatcher_attempts_in_flight: { type: 'gauge', help: 'Attempts in flight' },
  dispatcher_attempts_total: { type: 'counter', help: 'Attempts by how they ended', labels: ['outcome'] },
  dispatcher_events_oldest_seconds: {
    type: 'gauge',
    help: 'Age of the oldest event whose deliveries are neither attempted nor written as waiting',
  },
  dispatcher_events_swept_total: {
    type: 'counter',
    help: 'Events taken from the outbox when their leases had expired',
  },
  dispatcher_events_taken_total: { type: 'counter', help: 'Events taken from the stream and matched' },
  dispatcher_events_written_total: {
    type: 'counter',
    help: 'Events whose deliveries were written as waiting before a first attempt',
  },
  dispatcher_events_missed_total: {
    type: 'counter',
    help: 'Events that subscriptions missed at the quota of waiting deliveries',
  },
  dispatcher_first_attempt_lag_seconds: {
    type: 'histogram',
    help: 'From an event to the first attempt of its delivery',
  },
  dispatcher_first_taken_total: { type: 'counter', help: 'Deliveries of events taken from the stream' },
  dispatcher_given_up_total: {
    type: 'counter',
    help: 'Other dispatchers that this one has given up, because they gave no sign of life',
  },
  dispatcher_late_companies: {
    type: 'gauge',
    help: 'Companies with a queue that is more than a minute late although no attempt of it is under way',
  },
  dispatcher_late_queues: { type: 'gauge', help: 'Their queues, up to 1,000' },
  dispatcher_leases_freed_total: {
    type: 'counter',
    help: 'Deliveries made due because the dispatcher that leased them was given up',
  },
  dispatcher_not_held_total: {
    type: 'counter',
    help: 'Attempts not started because their leases may have been freed',
  },
  dispatcher_oldest_due_seconds: {
    type: 'gauge',
    help: 'Time since the oldest due queue became due, or age of the oldest held delivery',
    labels: ['kind'],
  },
  dispatcher_outbox_oldest_seconds: {
    type: 'gauge',
    help: 'Time since the earliest expired lease in the outbox',
  },
  dispatcher_own_faults_total: {
    type: 'counter',
    help: 'Attempts that failed for a reason on our side, by its code; they count for no receiver',
    labels: ['code'],
  },
  dispatcher_queue_taken_total: { type: 'counter', help: 'Deliveries taken from queues' },
  dispatcher_record_refused_total: { type: 'counter', help: 'Results that could not be recorded' },
  dispatcher_slots: { type: 'gauge', help: 'Attempts that may be in flight' },
  dispatcher_unrecorded: { type: 'gauge', help: 'Results that are not recorded yet' },
  dispatcher_waiting: { type: 'gauge', help: 'Deliveries that wait in memory for their turn' },
  dispatcher_waiting_queues: { type: 'gauge', help: 'Queues with waiting deliveries', labels: ['kind'] },
});
