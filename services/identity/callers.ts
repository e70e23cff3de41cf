import {
  companyEntryName,
  isUsable,
  type KeyEntry,
  keyEntryName,
  missingScope,
  Problem,
  problem,
  type Scope,
  signerEntryName,
} from '@causeway/proto';
import type { Answer, Bus, Call, Handler, LaneHandler, Log, Metrics } from '@causeway/runtime';
import { followKeyTable, identityMetrics } from './key-table.ts';
import { readSessionProof, signerOf } from './session-proof.ts';

export interface Callers {
  /**
   * Answers calls with a valid proof of their caller and refuses the others. Operators need no proof: NATS
   * lets only them send to their lanes.
   */
  guard(handler: Handler): LaneHandler;
  /** False until the copy is read, and while it may be out of date. */
  ready(): boolean;
  /**
   * False of a closed company. Company entries are never deleted. For a company that the copy lacks, asks the bucket's leader.
   * @throws Problem `keys_unavailable` while the copy is not reliable.
   */
  knowsCompany(companyId: number): Promise<boolean>;
  close(): void;
}

const reasons = [
  'no_proof',
  'unknown_key',
  'revoked_key',
  'other_company',
  'missing_scope',
  'forged_session',
  'expired_session',
] as const;
type Refusal = (typeof reasons)[number];

/** A correct gateway can send these: the key was revoked meanwhile, or the request took long. */
const innocent: ReadonlySet<Refusal> = new Set(['revoked_key', 'expired_session']);

/**
 * A compromised gateway can name any company, so every call carries a proof that the service checks against
 * its own copy of the key table: the hash of an API key (`CallKey`), or the session claims that `access` has
 * signed (`SessionClaims`). Company, caller, scope, member and role come from the proof alone.
 */
export const followCallers = ({ bus, log, metrics, now, onRevoked }: FollowCallersOptions): Callers => {
  const table = followKeyTable({ bus, log, metrics, onRevoked });
  bus.onReconnect(() => void table.reload('NATS is back'));
  void table.reload('start');
  const refusals = metrics?.counter(identityMetrics.caller_refusals_total);
  // Each series begins at 0, or Prometheus would see no increase at the first refusal.
  for (const reason of reasons) refusals?.cell(reason);
  let waiting = 0;

  const refuse = (call: Call, reason: Refusal, answer: Problem): Problem => {
    const { operation, tenant, caller, requestId, traceparent } = call;
    const cell = refusals?.cell(reason);
    if (cell) cell.value++;
    const facts = { reason, operation, tenant, caller, requestId, traceparent };
    if (innocent.has(reason)) log.info(facts, 'call refused');
    else log.error(facts, 'call refused: a gateway sent it without a valid proof of its caller');
    return answer;
  };

  /**
   * Only an entry that is still missing is read from the bucket, which answers nothing for seconds while its
   * servers elect a leader.
   */
  const catchUp = async <Entry>(
    { deadlineMs }: Call,
    name: string,
    find: () => Entry | undefined,
  ): Promise<Entry | undefined> => {
    if (waiting >= maxWaiting) throw problem('service_unavailable');
    waiting++;
    try {
      const withinMs = Math.min(deadlineMs - performance.now(), maxTableWaitMs);
      if (!table.trusted() && !(await table.untilTrustedAgain(withinMs)))
        throw problem('service_unavailable');
      const foundKey = find();
      if (foundKey) return foundKey;
      await table.fetch(name).catch((cause: unknown) => {
        throw problem('service_unavailable', cause);
      });
      return find();
    } finally {
      waiting--;
    }
  };

  const ofKey = (call: Call, scope: Scope | null, entry: KeyEntry | undefined): Call | Problem => {
    if (!entry) return refuse(call, 'unknown_key', problem('unauthorized'));
    if (!isUsable(entry, now().getTime())) return refuse(call, 'revoked_key', problem('unauthorized'));
    if (entry.companyId !== call.tenant || entry.id !== call.caller)
      return refuse(call, 'other_company', problem('unauthorized'));
    if (scope && !entry.scopes.includes(scope)) return refuse(call, 'missing_scope', missingScope(scope));
    return call;
  };

  const checkKey = (call: Call, scope: Scope | null): Checked => {
    const proof = call.key?.proof;
    if (typeof proof !== 'string') return refuse(call, 'no_proof', problem('unauthorized'));
    const name = keyEntryName(proof);
    const entry = table.trusted() ? table.key(name) : undefined;
    if (entry) return ofKey(call, scope, entry);
    return catchUp(call, name, () => table.key(name)).then((late) => ofKey(call, scope, late));
  };

  const ofSession = (call: Call, proof: string, publicKey: string | null | undefined): Call | Problem => {
    const claims = publicKey ? readSessionProof(proof, publicKey) : undefined;
    if (!claims || claims.companyId !== call.tenant)
      return refuse(call, 'forged_session', problem('signed_out'));
    if (claims.untilMs < now().getTime()) return refuse(call, 'expired_session', problem('signed_out'));
    const { address, userAgent } = call.actor!;
    return { ...call, caller: claims.user.id, actor: { user: claims.user, address, userAgent } };
  };

  const checkSession = (call: Call): Checked => {
    const proof = call.actor?.proof;
    const id = typeof proof === 'string' ? signerOf(proof) : undefined;
    if (proof === undefined || id === undefined) return refuse(call, 'no_proof', problem('signed_out'));
    const signer = table.trusted() ? table.signer(id) : undefined;
    if (signer) return ofSession(call, proof, signer.publicKey);
    return catchUp(call, signerEntryName(id), () => table.signer(id)).then((late) =>
      ofSession(call, proof, late?.publicKey),
    );
  };

  return {
    guard: ({ operation, answer }) => {
      // A stranger's call has its own proof, such as a token that its handler looks up.
      const isOpen = operation.audience === 'member' && operation.role === null;
      if (operation.audience === 'operator' || isOpen) return answer;
      return guarded(
        answer,
        operation.audience === 'key' ? (call) => checkKey(call, operation.scope) : checkSession,
      );
    },
    ready: table.trusted,
    knowsCompany: async (companyId) => {
      const entry = table.company(companyId);
      if (entry) return !entry.closed;
      if (!table.trusted()) throw problem('keys_unavailable');
      await table.fetch(companyEntryName(companyId));
      const late = table.company(companyId);
      return late !== undefined && !late.closed;
    },
    close: table.close,
  };
};

interface FollowCallersOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics?: Metrics | undefined;
  /** The database's clock, which `access` uses for signing. */
  readonly now: () => Date;
  /** Called when a revocation was announced. It may be missed. */
  readonly onRevoked?: (() => void) | undefined;
}

type Checked = Call | Problem | Promise<Call | Problem>;

const guarded =
  (handler: LaneHandler, check: (call: Call) => Checked): LaneHandler =>
  (calls) => {
    const answers: Promise<Answer>[] = [];
    const passed: Call[] = [];
    const places: number[] = [];
    calls.forEach((call, place) => {
      const checked = check(call);
      if (checked instanceof Promise) answers[place] = checked.then((late) => answerOf(handler, late));
      else if (checked instanceof Problem) answers[place] = Promise.reject(checked);
      else {
        passed.push(checked);
        places.push(place);
      }
    });
    if (passed.length > 0) {
      const handled = callAll(handler, passed);
      places.forEach((place, index) => {
        answers[place] = handled[index] ?? Promise.reject(new Error(`no promise for call ${place}`));
      });
    }
    return answers;
  };

/** If a handler throws, the promises of refused calls still need a listener. */
const callAll = (handler: LaneHandler, calls: readonly Call[]): readonly Promise<Answer>[] => {
  try {
    return handler(calls);
  } catch (error) {
    return calls.map(() => Promise.reject(error));
  }
};

const answerOf = (handler: LaneHandler, checked: Call | Problem): Promise<Answer> => {
  if (checked instanceof Problem) throw checked;
  return handler([checked])[0]!;
};

/** Reading a large table takes a second or two. */
const maxTableWaitMs = 3_000;
/** Limits the cost of calls with forged proofs: each costs one NATS message. */
const maxWaiting = 512;
