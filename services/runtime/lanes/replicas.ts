import { followBeats, type Member, type MemberChange } from '../beats.ts';
import type { Bus } from '../bus.ts';

export interface Replica {
  readonly member: Member;
  inFlight: number;
  lastFrame: number;
  /** `performance.now()` */
  avoidedUntilMs: number;
}

export interface Replicas {
  choose(): Replica | undefined;
  hasOther(replica: Replica | undefined): boolean;
  lose(replica: Replica): void;
  avoid(replica: Replica): void;
  /** Whether any replica sent a beat in the last three seconds. */
  expected(): boolean;
  count(): number;
  close(): void;
}

/** Longer than a service takes to restart, and than a replica takes to find another NATS server. */
const expectedForMs = 3_000;
const avoidForMs = 250;

export const followReplicas = (
  bus: Bus,
  lane: string,
  onChange: (replica: Replica, change: MemberChange) => void,
): Replicas => {
  const replicas = new WeakMap<Member, Replica>();
  const replicaOf = (member: Member): Replica => {
    let replica = replicas.get(member);
    if (!replica) {
      replica = { member, inFlight: 0, lastFrame: 0, avoidedUntilMs: 0 };
      replicas.set(member, replica);
    }
    return replica;
  };
  const members = followBeats({
    bus,
    group: lane,
    onChange: (member, change) => onChange(replicaOf(member), change),
  });

  const usable = (): { readonly well: readonly Replica[]; readonly unwell: readonly Replica[] } => {
    const nowMs = performance.now();
    const [well, unwell]: [Replica[], Replica[]] = [[], []];
    for (const member of members.all()) {
      if (member.silent || member.state === 'leaving') continue;
      const replica = replicaOf(member);
      (member.state === 'well' && replica.avoidedUntilMs <= nowMs ? well : unwell).push(replica);
    }
    return { well, unwell };
  };

  return {
    choose: () => {
      const { well, unwell } = usable();
      const candidates = well.length > 0 ? well : unwell;
      let best = candidates[0];
      for (const candidate of candidates)
        if (
          best &&
          (candidate.inFlight < best.inFlight ||
            (candidate.inFlight === best.inFlight && candidate.lastFrame < best.lastFrame))
        )
          best = candidate;
      return best;
    },
    hasOther: (replica) => usable().well.some((one) => one !== replica),
    lose: ({ member }) => members.lose(member),
    avoid: (replica) => {
      replica.avoidedUntilMs = performance.now() + avoidForMs;
    },
    expected: () => members.unheardMs() < expectedForMs,
    count: () => usable().well.length,
    close: () => members.close(),
  };
};
