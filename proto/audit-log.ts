import type { AuditAction, AuditActorKind, AuditTargetKind } from './portal/audit.ts';
import type { Actor } from './portal.ts';

/** Added in the transaction of the change it describes; never changed or removed. */
export interface AuditEntry {
  readonly companyId: number;
  readonly by: AuditSource;
  readonly action: AuditAction;
  readonly target: {
    readonly kind: AuditTargetKind;
    readonly id: number | string | null;
    readonly name: string;
  };
  /** What changed, by field; never a secret. */
  readonly before?: Readonly<Record<string, unknown>> | null;
  readonly after?: Readonly<Record<string, unknown>> | null;
  readonly at: Date;
}

export interface AuditSource {
  readonly kind: AuditActorKind;
  readonly id: number | null;
  readonly name: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
}

export const byMember = (call: { readonly actor: Actor; readonly requestId: string }): AuditSource => {
  const { user, address, userAgent } = call.actor;
  if (!user) throw new Error('nobody is signed in');
  const name = user.name || user.email;
  return { kind: 'user', id: user.id, name, address, userAgent, requestId: call.requestId };
};

/** What happens by itself, such as the expiry of a key. */
export const bySystem: AuditSource = {
  kind: 'system',
  id: null,
  name: 'Causeway',
  address: null,
  userAgent: null,
  requestId: null,
};

export const byKey = (call: {
  readonly keyId: number;
  readonly address: string | null;
  readonly requestId: string;
}): AuditSource => {
  const { keyId, address, requestId } = call;
  return { ...bySystem, kind: 'key', id: keyId, name: `API key ${keyId}`, address, requestId };
};

export const byOperator = (requestId: string): AuditSource => ({
  ...bySystem,
  kind: 'operator',
  name: 'operator',
  requestId,
});

/** Somebody whom nothing is known of but where they come from. */
export const byStranger = (call: {
  readonly actor: Pick<Actor, 'address' | 'userAgent'>;
  readonly requestId: string;
}): AuditSource => {
  const { address, userAgent } = call.actor;
  return { ...bySystem, address, userAgent, requestId: call.requestId };
};

/**
 * What happens often is in the log by its count: at the 1st, 5th, 10th, 50th, 100th … time, so that floods add few entries.
 * @returns whether the count passed one of these
 */
export const isToldAt = (before: number, after: number): boolean => {
  for (let ten = 1; ten <= after; ten *= 10)
    for (const step of [ten, 5 * ten]) if (before < step && step <= after) return true;
  return false;
};

/** A row of `audit_log` (services/access/migrations), without its id. */
export interface AuditRow {
  company_id: number;
  created_utc: Date;
  actor_kind: AuditActorKind;
  actor_id: number | null;
  actor_name: string;
  action: AuditAction;
  target_kind: AuditTargetKind;
  target_id: string | null;
  target_name: string;
  before_json: string | null;
  after_json: string | null;
  address: string | null;
  user_agent: string | null;
  request_id: string | null;
}

export const changes = (
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { readonly before: Record<string, unknown>; readonly after: Record<string, unknown> } => {
  const differing = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const pick = (from: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(differing.filter((name) => name in from).map((name) => [name, from[name]]));
  return { before: pick(before), after: pick(after) };
};
