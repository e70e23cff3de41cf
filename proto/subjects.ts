import type { EventType } from './events.ts';

/**
 * Every NATS subject, stream and bucket that two processes must agree on. The permissions of the cluster
 * (`deploy/nats/permissions.ts`) use these names, so a subject that is not here cannot be used.
 */

/** The services that answer lanes. */
export const services = ['access', 'crm', 'webhooks'] as const;
export type ServiceName = (typeof services)[number];

/**
 * The operators' operations have lanes of their own, which no gateway may send to, so a compromised gateway cannot
 * create keys. `access` serves `operator`; `webhooks`, which alone has the key ring, `operator-webhooks`.
 */
export type LaneName = ServiceName | OperatorLane;
export type OperatorLane = 'operator' | 'operator-webhooks';

/** The subject of a lane's request frames. The replicas of the service share it as one queue group. */
export const laneSubject = (lane: LaneName): string => `lane.${lane}`;

/** The subject of the frames for one replica of a lane. */
export const replicaSubject = (lane: LaneName | '*', replica: string): string => `lane.${lane}.${replica}`;

/** The members of a group, such as the replicas of a lane, say here that they live (`services/runtime/beats.ts`). */
export const beatSubject = (group: string, member: string): string => `beats.${group}.${member}`;

/** A process sends itself messages here, from one NATS server to another, to learn whether they arrive. */
export const probeSubject = (user: string, process: string): string => `probes.${user}.${process}`;

/** The prefix under which a lane client listens for its answers: `reply.<client>.<instance>.<frame>`. */
export const replyPrefix = (client: string): string => `reply.${client}`;

/** KV bucket of API keys and company limits: written by `access`, followed by gateways, `crm` and `webhooks`. */
export const keyBucket = 'keys';

/** KV bucket with an entry for every serving gateway, renewed each second; it expires after five. */
export const gatewayBucket = 'gateways';

/** Broadcast by `access` when an entry of the key table changes; each gateway answers once it has the entry. */
export const keyRevokedSubject = 'keys.revoked';

/**
 * Requests for the changes of the key table (`KeyChangesRequest`), from those whose connection was lost; the replicas of
 * `access` are a queue group.
 */
export const keyChangesSubject = 'keys.changes';

/** Gateways report `[[keyId, minute], …]` here; one `access` replica of the queue group writes them. */
export const keyUsedSubject = 'keys.used';

/**
 * The streams of rate-limit counts: one log with a single NATS server, three logs on three servers
 * (`services/gateway/limits`). Each has one copy and is on one server.
 */
export const limitLogStream = (log: number): string => `LIMIT_LOG_${log}`;
export const limitLogNumbers = (replicas: number): readonly number[] => (replicas < 3 ? [1] : [1, 2, 3]);

/**
 * The entries of a log. The store's name tells a store from one that was lost before it; the entries of all stores
 * together are one sequence, so that an append under one name fences off the writers of all others.
 */
export const limitEntrySubject = (log: number | '*', store: string): string =>
  `limits.entries.${log}.${store}`;

/**
 * Requests to count go here. Only the owner listens, under the epoch of its ownership, so that an owner that was
 * fenced off without noticing is never asked again.
 */
export const limitCountSubject = (epoch: string): string => `limits.count.${epoch}`;

/**
 * The stream of committed events, for the dispatchers. The outbox table is authoritative: a sweeper finds events that
 * the stream lost.
 */
export const eventStream = 'EVENTS';

/**
 * `events.<company>.<type>`, such as `events.1001.lead.created`; the message is the envelope. Every type has two
 * parts, so no other subject below `events` is in the stream.
 */
export const eventSubject = (companyId: number | '*', type: EventType | '*.*'): string =>
  `events.${companyId}.${type}`;

/** Requests of the CRM's other modules to add an event (`ingestEvent`); crm's replicas are a queue group. */
export const ingestSubject = 'events.ingest';

/** The durable consumer that all dispatchers pull from. */
export const eventConsumer = 'dispatchers';

/** The header of an event with the version of its company's subscriptions (`event_sequences`) at its commit. */
export const versionHeader = 'Subscriptions-Version';

/** Dispatchers tell one another here when a subscription begins or stops failing. */
export const deliveryHealthSubject = 'deliveries.health';

/** Requests for a test delivery; the dispatchers are a queue group. */
export const testDeliverySubject = 'deliveries.test';

/** Requests to begin a committed command (`DeliveryCommand`); the dispatchers are a queue group. */
export const deliveryCommandSubject = 'deliveries.command';

/**
 * Dispatchers broadcast finished attempts here for the portal's live view (`DeliveryTailEntry`). There may be no
 * listener.
 */
export const deliveryTailSubject = (companyId: number | '*'): string => `tail.deliveries.${companyId}`;

/** Broadcast by `access` when sessions of the portal end before their time: a JSON array of their ids. */
export const sessionsEndedSubject = 'portal.sessions.ended';

/** Gateways report request counts here (`RequestReport`); one `access` replica of the queue group writes them. */
export const requestsCountedSubject = 'requests.counted';
