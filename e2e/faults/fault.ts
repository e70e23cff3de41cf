import type { World } from '../api/support/open.ts';
import type { Bounds } from './bounds.ts';
import type { Disks } from './disks.ts';
import type { Links } from './links.ts';
import type { Names } from './names/names.ts';
import type { Clocks } from './skew/clocks.ts';

/** A cluster under load. */
export interface Place {
  readonly world: World;
}

/** A cluster in which every part can be stopped or disconnected. */
export interface Scene extends Place {
  readonly links: Links;
  readonly clocks: Clocks;
  readonly disks: Disks;
  readonly names: Names;
  /** The name of the NATS server that leads a stream, such as `nats-2`. */
  leaderOf(stream: string): Promise<string>;
  /** Makes this server the leader of a stream. */
  lead(stream: string, server: string): Promise<void>;
  /** Stops a process gracefully, and resolves when its successor is ready. */
  restart(name: string): Promise<void>;
}

/** A fault, and how it heals. */
export interface Fault<At extends Place = Scene> {
  readonly name: string;
  /** Prepares the cluster before the load begins. Callers must not notice. */
  readonly prepare?: (scene: At) => Promise<void>;
  /** @returns details that are known only now, such as which server was the leader. */
  readonly act: (scene: At) => Promise<string | undefined>;
  /** Duration; 0 if the supervisor repairs it. */
  readonly lastsMs: number;
  /** Resolves when what was killed answers again. `failingForMs` does not count the time until then. */
  readonly restarted?: (scene: At) => Promise<void>;
  readonly heal?: (scene: At) => Promise<void>;
  /** Undoes `prepare` after the load. */
  readonly restore?: (scene: At) => Promise<void>;
  /** Exceeding one is a failure of the run. */
  readonly bounds?: Bounds;
  /** A gateway itself fails: requests may end without an answer. */
  readonly edge?: true;
  /** What the receiver answers may not arrive. */
  readonly receiverCut?: true;
  /** A delivery may come twice: a dispatcher dies or stands still, or NATS delivers again (dispatcher/README, "Lost"). */
  readonly mayRepeat?: true;
  /** MySQL takes longer for a write than an event's lease leaves: deliveries of swept events may come twice. */
  readonly lateWrites?: true;
  /** Callers must not notice: every request succeeds. */
  readonly unnoticed?: true;
}
