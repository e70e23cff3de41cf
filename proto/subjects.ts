import type { EventType } from './events.ts';

/** Every subject, stream and bucket that processes share; `deploy/nats/permissions.ts` permits no other. */

export const services = ['access', 'crm', 'webhooks'] as const;
export type ServiceName = (typeof services)[number];

/**
 * Operators have lanes of their own, which no gateway may send to: a compromised gateway must not create
 * keys. `operator` belongs to `access`, the others to the service that they name.
 */
export type LaneName = ServiceName | OperatorLane;
export type OperatorLane = 'operator' | 'operator-crm' | 'operator-webhooks';

export const laneSubject = (lane: LaneName): string => `lane.${lane}`;

export const replicaSubject = (lane: LaneName | '*', replica: string): string => `lane.${lane}.${replica}`;

/** The members of a group say here that they live (`services/runtime/beats.ts`). */
export const beatSubject = (group: string, member: string): string => `beats.${group}.${member}`;

/** A process sends messages to itself here, from one NATS server to another, to learn whether they arrive. */
export const probeSubject = (user: string, process: string): string => `probes.${user}.${process}`;

export const replyPrefix = (client: string): string => `reply.${client}`;

/** Written by `access`, followed by gateways, `crm` and `webhooks`. */
export const keyBucket = 'keys';

/** One entry for every serving gateway, renewed each second; it expires after five. */
export const gatewayBucket = 'gateways';

/** Broadcast by `access`; each gateway answers once it has the entry. */
export const keyRevokedSubject = 'keys.revoked';

/** Sent by processes whose connection was lost; the replicas of `access` are a queue group. */
export const keyChangesSubject = 'keys.changes';

/** Rate-limit counts: one log with a single NATS server, three logs on three servers. */
export const limitLogStream = (log: number): string => `LIMIT_LOG_${log}`;
export const limitLogNumbers = (replicas: number): readonly number[] => (replicas < 3 ? [1] : [1, 2, 3]);

/** The random name tells a new store from a lost one. All names share one sequence, so an append fences off all other writers. */
export const limitEntrySubject = (log: number | '*', store: string): string =>
  `limits.entries.${log}.${store}`;

/** Only the owner listens, under the epoch of its ownership: a fenced-off owner is never asked again. */
export const limitCountSubject = (epoch: string): string => `limits.count.${epoch}`;

/** Committed events, for the dispatchers. The outbox table is authoritative. */
export const eventStream = 'EVENTS';

/** `events.1001.lead.created`; the message is the envelope. */
export const eventSubject = (companyId: number | '*', type: EventType | '*.*'): string =>
  `events.${companyId}.${type}`;

/** Committed transactions of `crm` have added to these companies: gateways with waiting readers look again. */
export const writtenSubject = 'written';
export type WrittenKind = 'events' | 'changes';
export type WrittenNotice = Readonly<Record<WrittenKind, readonly number[]>>;

export const ingestSubject = 'events.ingest';

export const eventConsumer = 'dispatchers';

/** The version of the company's subscriptions (`event_sequences`) at the event's commit. */
export const versionHeader = 'Subscriptions-Version';

/** The event's `sequence` and `origin`, which its bytes do not have. */
export const sequenceHeader = 'Event-Sequence';
export const originHeader = 'Event-Origin';

export const deliveryHealthSubject = 'deliveries.health';

export const testDeliverySubject = 'deliveries.test';

export const deliveryCommandSubject = 'deliveries.command';

/** `LoggedRequest`s from gateways, in a JSON array; one `access` replica of the queue group writes them. */
export const requestsLoggedSubject = 'requests.logged';
