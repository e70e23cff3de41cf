import { z } from 'zod';
import { defineOperation, memberDefaults } from '../operation.ts';
import { idParameter, limitParameter } from '../schemas/fields.ts';
import { id, instant } from '../schemas/values.ts';
import { cursorParameter, instantParameter, nextPage } from './fields.ts';

const auditActorKinds = ['user', 'key', 'operator', 'system'] as const;
export type AuditActorKind = (typeof auditActorKinds)[number];

/** Actions in the audit log: the kind of target, then a verb in the past tense. */
const auditActions = [
  'session.started',
  'session.ended',
  'identity.proved',
  'password.refused',
  'code.refused',
  'password.changed',
  'password.reset_offered',
  'password.reset',
  'totp.enabled',
  'totp.disabled',
  'totp.reset',
  'passkey.added',
  'passkey.removed',
  'second_factor.required',
  'second_factor.optional',
  'recovery_codes.renewed',
  'recovery_code.used',
  'profile.changed',
  'member.invited',
  'invitation.revoked',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'company.created',
  'company.closed',
  'company.opened',
  'company.exported',
  'limits.changed',
  'key.created',
  'key.changed',
  'key.rotated',
  'key.rotation_ended',
  'key.revoked',
  'key.network_refused',
  'subscription.created',
  'subscription.changed',
  'subscription.enabled',
  'subscription.disabled',
  'subscription.secret_rotated',
  'subscription.deleted',
  'subscription.tested',
  'subscription.verified',
  'endpoint_verification.enabled',
  'endpoint_verification.disabled',
  'delivery.resent',
  'delivery.retried',
  'delivery.cancelled',
  'delivery.released',
  'delivery.shared',
  'delivery.share_revoked',
  'delivery.share_opened',
  'replay.created',
  'replay.cancelled',
  'held.released',
  'held.dropped',
  'missed.dismissed',
  'person.erased',
  'notices.mail_changed',
  'notices.channel_changed',
  'notices.channel_removed',
  'notices.channel_tested',
  'settings.imported',
] as const;
export type AuditAction = (typeof auditActions)[number];

const auditTargetKinds = [
  'company',
  'member',
  'invitation',
  'session',
  'key',
  'subscription',
  'event',
  'delivery',
  'replay',
  'person',
] as const;
export type AuditTargetKind = (typeof auditTargetKinds)[number];

const fields = z.record(z.string(), z.unknown()).nullable();

const entry = z.object({
  id,
  createdUtc: instant,
  actor: z.object({ kind: z.enum(auditActorKinds), id: id.nullable(), name: z.string() }),
  action: z.enum(auditActions),
  target: z.object({ kind: z.enum(auditTargetKinds), id: z.string().nullable(), name: z.string() }),
  before: fields,
  after: fields,
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
});

export const listAudit = defineOperation({
  ...memberDefaults,
  service: 'access',
  method: 'GET',
  path: '/audit',
  role: 'admin',
  query: z.strictObject({
    limit: limitParameter({ min: 1, max: 100, otherwise: 50 }),
    cursor: cursorParameter,
    action: z.enum(auditActions).optional(),
    targetKind: z.enum(auditTargetKinds).optional(),
    targetId: z
      .string()
      .regex(/^[!-~]{1,100}$/)
      .optional(),
    userId: idParameter.optional(),
    q: z.string().trim().max(100).optional().meta({
      description:
        'Words that the names of the actor and the target, the action, the address or the request ID contain, all of them. A page of a search may hold fewer entries than `limit`, or none, while `hasMore` is true: each page looks through a bounded number of entries.',
    }),
    since: instantParameter,
    until: instantParameter,
    signIns: z
      .enum(['hidden'])
      .optional()
      .meta({ description: '`hidden`: without the beginnings and ends of sessions. Pages as with `q`.' }),
  }),
  answers: {
    200: {
      schema: z.object({
        entries: z.array(entry),
        ...nextPage,
      }),
    },
  },
});
