import { beatSubject } from '@causeway/proto/subjects';
import type { Msg } from '@nats-io/transport-node';
import { type Bus, readNotice } from './bus.ts';
import { eachTick } from './repeat.ts';

/** `unwell`: it lives, but calls should go to others if there are any. `leaving`: it is about to stop. */
type BeatState = 'well' | 'unwell' | 'leaving';

/** `connections` counts the member's connections to NATS: if it grows, messages may have been lost. */
type Beat = readonly [state: BeatState, connections: number];

export const beatEveryMs = 250;
const silentAfterMs = 3 * beatEveryMs;
const checkEveryMs = 125;
const forgetAfterMs = 60_000;
/** More are ignored: a service under attack could invent any number. */
const maxMembers = 1000;

export interface Beats {
  leave(): void;
}

/** Says every quarter of a second, as a member of a group, that this process lives, and how it is. */
export const startBeats = ({ bus, group, member, well = () => true }: BeatsOptions): Beats => {
  const subject = beatSubject(group, member);
  let connections = 1;
  const say = (state: BeatState): void => {
    if (bus.connected()) bus.nc.publish(subject, JSON.stringify([state, connections] satisfies Beat));
  };
  const beat = (): void => say(well() ? 'well' : 'unwell');
  const stop = eachTick(beat, beatEveryMs);
  let left = false;
  bus.onReconnect(() => {
    connections++;
    if (!left) beat();
  });
  beat();
  return {
    leave: () => {
      left = true;
      stop();
      say('leaving');
    },
  };
};

interface BeatsOptions {
  readonly bus: Bus;
  readonly group: string;
  /** Unique in the group, and over restarts. */
  readonly member: string;
  readonly well?: () => boolean;
}

/** The same object while the member lives. */
export interface Member {
  readonly name: string;
  readonly state: BeatState;
  /** Whether its last three beats are missing, or `lose` was called since the last one. */
  readonly silent: boolean;
}

/** `renewed`: the member has a new connection to NATS, so messages may have been lost. */
export type MemberChange = Exclude<BeatState, 'well'> | 'silent' | 'renewed';

export interface Members {
  /** Every member that was heard in the last minute. */
  all(): Iterable<Member>;
  /** Milliseconds since any member was heard that was not leaving. */
  unheardMs(): number;
  /** Counts the member as silent until its next beat: nobody listens at its subject. */
  lose(member: Member): void;
  close(): void;
}

/** Silence counts only while this process runs on time and is connected: a stalled process blames nobody. */
export const followBeats = ({ bus, group, onChange }: FollowOptions): Members => {
  const members = new Map<string, KnownMember>();
  /** Advances only while a beat would have been heard. */
  let listenedMs = 0;
  let checkedMs = performance.now();
  let heardMs = Number.NEGATIVE_INFINITY;

  const onBeat = (error: Error | null, message: Msg): void => {
    const [state, connections] = (error ? undefined : (readNotice(message) as Beat | undefined)) ?? [];
    if (!isState(state) || typeof connections !== 'number') return;
    const name = message.subject.slice(message.subject.lastIndexOf('.') + 1);
    let member = members.get(name);
    if (!member) {
      if (members.size >= maxMembers) return;
      member = { name, state: 'well', connections, silent: false, lastBeatMs: listenedMs };
      members.set(name, member);
    }
    const renewed = member.connections < connections;
    const worse = state !== 'well' && state !== member.state;
    Object.assign(member, {
      state,
      connections,
      silent: false,
      lastBeatMs: listenedMs,
    } satisfies Partial<KnownMember>);
    if (state !== 'leaving') heardMs = performance.now();
    if (renewed) onChange?.(member, 'renewed');
    if (worse) onChange?.(member, state);
  };
  const subscription = bus.nc.subscribe(beatSubject(group, '*'), { callback: onBeat });

  const lose = (member: KnownMember | undefined): void => {
    if (!member || member.silent) return;
    member.silent = true;
    onChange?.(member, 'silent');
  };
  const stop = eachTick(() => {
    const nowMs = performance.now();
    if (bus.connected()) listenedMs += Math.min(nowMs - checkedMs, 2 * checkEveryMs);
    checkedMs = nowMs;
    for (const member of members.values()) {
      const silentMs = listenedMs - member.lastBeatMs;
      if (silentMs > forgetAfterMs) members.delete(member.name);
      else if (silentMs > silentAfterMs) lose(member);
    }
  }, checkEveryMs);

  return {
    all: () => members.values(),
    unheardMs: () => performance.now() - heardMs,
    lose: ({ name }) => lose(members.get(name)),
    close: () => {
      stop();
      subscription.unsubscribe();
    },
  };
};

interface FollowOptions {
  readonly bus: Bus;
  readonly group: string;
  readonly onChange?: (member: Member, change: MemberChange) => void;
}

interface KnownMember {
  readonly name: string;
  state: BeatState;
  connections: number;
  silent: boolean;
  /** By `listenedMs`. */
  lastBeatMs: number;
}

const isState = (state: unknown): state is BeatState =>
  state === 'well' || state === 'unwell' || state === 'leaving';
