/**
 * The lease of a delivery: longer than an attempt can take, including its waits. When it expires, the delivery is due
 * again; if the dispatcher that it names dies, soon after that.
 */
export const leaseMs = 30_000;

/**
 * The lease that an event's outbox row is born with, from the event's time. The dispatcher that gets the event's
 * message acts on it until then without asking the database. A row whose lease has expired was lost on the way; any
 * dispatcher takes it.
 */
export const outboxLeaseMs = 1_500;
