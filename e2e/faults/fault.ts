import type { World } from '../api/support/open.ts';
import type { Disks } from './disks.ts';
import type { Links } from './links.ts';
import type { Clocks } from './skew/clocks.ts';

/** A cluster under load. */
export interface Place {
  readonly world: World;
}

/** A cluster of which everything can be taken away. */
export interface Scene extends Place {
  readonly links: Links;
  readonly clocks: Clocks;
  readonly disks: Disks;
  /** The name of the NATS server that leads a stream, as `nats-2`. */
  leaderOf(stream: string): Promise<string>;
  /** Has a stream led by this server. */
  lead(stream: string, server: string): Promise<void>;
  /** Asks a process to end, and resolves when its successor is ready. */
  restart(name: string): Promise<void>;
}

/** Something that goes wrong, and how it comes right again. */
export interface Fault<At extends Place = Scene> {
  readonly name: string;
  /** What this cluster looks like without anybody noticing: done before the load begins. */
  readonly prepare?: (scene: At) => Promise<void>;
  /** @returns what came out only now, such as which server was the leader. */
  readonly act: (scene: At) => Promise<string | undefined>;
  /** How long it stays so; 0 where the supervisor mends it. */
  readonly lastsMs: number;
  readonly heal?: (scene: At) => Promise<void>;
  /** Undoes what `prepare` did, after the load. */
  readonly restore?: (scene: At) => Promise<void>;
  /** The edge itself is taken away: requests may end without an answer. */
  readonly edge?: true;
  /** Nobody may notice: every request succeeds, and nothing is delivered twice. */
  readonly unnoticed?: true;
}
