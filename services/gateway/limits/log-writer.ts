import { encodeEntry, type LimitLog, type LogState, nameStore } from './log.ts';

export interface LogWriter {
  /** Calls back when a majority of the logs has stored the totals. Never calls back once ownership is lost. */
  append(totals: string, done: () => void): void;
  /** Appends the whole state as the last entry, after which any gateway may take over. */
  release(done: () => void): void;
  lost(): boolean;
  stop(): void;
}

export interface FencedLog {
  readonly at: number;
  readonly store: string;
  readonly sequence: number;
}

/**
 * Each log has a queue of its own, so a slow, silent or dead log delays no other. A log that is more than
 * `maxQueued` appends behind gets the whole state instead.
 * A log is *held* while nothing but this writer's entries have followed its fence. The writer may append
 * again to a log that it does not hold (it was away during the take-over, another gateway fenced it off, or
 * its store was lost) only when all other logs have stored an append that was sent after it looked at this
 * log. If another gateway had taken a majority by then, at least one of those logs would have refused the
 * append.
 */
export const openLogWriter = (options: WriterOptions): LogWriter => {
  const { logs, epoch, fenced, after, newStore, encodeState, snapshotEvery } = options;
  const majority = majorityOf(logs);
  let number = 0;
  let opened = false;
  let lost = false;
  let released = false;
  const commits: Commit[] = [];
  let state: { readonly number: number; readonly parts: readonly string[] } | undefined;

  const links = logs.map((log, at): Link => {
    const fencedLog = fenced.find((one) => one.at === at);
    return {
      log,
      store: fencedLog?.store,
      sequence: fencedLog?.sequence ?? 0,
      held: fencedLog !== undefined,
      ready: fencedLog !== undefined,
      sending: false,
      stored: 0,
      queue: undefined,
      sinceWhole: 0,
      unheld: undefined,
    };
  });

  const lose = (): void => {
    if (lost) return;
    lost = true;
    options.onLost();
  };
  const wholeState = (): readonly string[] => {
    if (state?.number !== number) state = { number, parts: encodeState() };
    return state.parts;
  };

  const push = (totals: string, done?: () => void): number => {
    number++;
    if (done) commits.push({ number, done });
    for (const link of links) {
      if (link.queue && link.queue.length >= maxQueued) link.queue = undefined;
      link.queue?.push({ number, totals });
    }
    for (const link of links) send(link);
    return number;
  };

  const send = (link: Link): void => {
    if (lost || !link.ready || link.sending || link.stored === number || link.store === undefined) return;
    const whole = !link.queue || released || ++link.sinceWhole >= snapshotEvery();
    const upTo = number;
    link.sending = true;
    const onResult = (result: number | 'refused' | undefined): void => {
      link.sending = false;
      if (lost) return;
      if (typeof result === 'number') {
        link.sequence = result;
        noteStored(link, upTo);
        send(link);
        return;
      }
      if (whole) link.queue = undefined;
      link.ready = false;
      if (result === 'refused') look(link);
      else lookLater(link);
    };
    if (whole) {
      appendState(link, { store: link.store, expectedSequence: link.sequence, joining: false }, onResult);
      return;
    }
    const entry = encodeEntry(
      { epoch, number: upTo },
      link.queue!.map(({ totals }) => totals),
    );
    link.log.append({ store: link.store, entry, expectedSequence: link.sequence, replaces: false }, onResult);
  };

  /** As one entry that replaces all others or, if it is too large for one, as several. */
  const appendState = (
    link: Link,
    { store, expectedSequence, joining }: StateAppend,
    done: (result: number | 'refused' | undefined) => void,
  ): void => {
    const parts = wholeState();
    const upTo = number;
    const whole = parts.length === 1;
    link.queue = [];
    link.sinceWhole = 0;
    let first = 0;
    const appendPart = (at: number, expected: number): void => {
      const isLast = at === parts.length - 1;
      const head = {
        epoch,
        number: isLast ? upTo : link.stored,
        ...(whole && { whole }),
        ...(isLast && released && { released }),
        ...(!isLast && joining && { joining }),
      };
      const append = {
        store,
        entry: encodeEntry(head, [parts[at]!]),
        expectedSequence: expected,
        replaces: whole,
      };
      link.log.append(append, (result) => {
        if (typeof result !== 'number') return done(result);
        first ||= result;
        if (isLast && !whole) link.log.purge(store, first);
        if (isLast || lost) done(result);
        else appendPart(at + 1, result);
      });
    };
    appendPart(0, expectedSequence);
  };

  const noteStored = (link: Link, upTo: number): void => {
    if (upTo > link.stored) link.stored = upTo;
    while (link.queue?.[0] && link.queue[0].number <= link.stored) link.queue.shift();
    while (commits.length > 0 && isStored(commits[0]!.number)) commits.shift()!.done();
    if (opened) for (const one of links) if (one.unheld && isProven(one, one.unheld)) rejoin(one, one.unheld);
  };
  const isStored = (upTo: number): boolean =>
    links.filter((link) => link.held && link.stored >= upTo).length >= majority;
  const isProven = (link: Link, { proof }: UnheldLog): boolean =>
    links.every((other) => other === link || (other.held && other.stored >= proof));

  const lookLater = (link: Link): void => after(lookAgainMs, () => look(link));
  const look = (link: Link): void => {
    if (lost) return;
    link.log.readState((found) => {
      if (lost) return;
      if (!found) return lookLater(link);
      const same = link.store === undefined || link.store === found.store;
      if (same && found.member && found.epoch === epoch) {
        // Nobody else has appended since the fence. An earlier entry than expected means that the server has
        // lost the end of its store.
        if (found.number < link.stored) Object.assign(link, { stored: found.number, queue: undefined });
        Object.assign(link, { store: found.store, sequence: found.sequence, held: true, ready: true });
        noteStored(link, found.number);
        send(link);
        return;
      }
      link.held = false;
      link.stored = 0;
      if (links.filter(({ held }) => held).length < majority) return lose();
      if (found.store === undefined)
        nameStore(link.log, newStore(), (named) => (named ? look(link) : lookLater(link)));
      else if (opened) {
        const unheld = { state: found, store: found.store, proof: number + 1 };
        link.unheld = unheld;
        push('');
        loseIfStuck(link, unheld, commits[0]);
      } else lookLater(link);
    });
  };

  /** If nothing can be stored meanwhile, another gateway may be the owner. */
  const loseIfStuck = (link: Link, unheld: UnheldLog, waiting: Commit | undefined): void =>
    after(stuckMs, () => {
      if (lost || link.unheld !== unheld) return;
      if (waiting && commits[0] === waiting) lose();
      else loseIfStuck(link, unheld, commits[0]);
    });

  const rejoin = (link: Link, { state: found, store }: UnheldLog): void => {
    link.unheld = undefined;
    const upTo = number;
    const append = { store, expectedSequence: found.sequence, joining: !found.member };
    appendState(link, append, (result) => {
      if (lost) return;
      if (typeof result !== 'number') {
        link.queue = undefined;
        lookLater(link);
        return;
      }
      Object.assign(link, { store, sequence: result, held: true, ready: true });
      noteStored(link, upTo);
      send(link);
    });
  };

  // The first append makes this gateway the owner. It counts only where it follows the fence.
  push('', () => {
    opened = true;
    for (const link of links) if (!link.held) look(link);
    options.onOpen();
  });
  return {
    append: (totals, done) => void push(totals, done),
    release: (done) => {
      released = true;
      push('', () => {
        lost = true;
        done();
      });
    },
    lost: () => lost,
    stop: () => {
      lost = true;
    },
  };
};

export const majorityOf = (logs: readonly LimitLog[]): number => Math.floor(logs.length / 2) + 1;

const maxQueued = 256;
const lookAgainMs = 50;
const stuckMs = 300;

interface WriterOptions {
  readonly logs: readonly LimitLog[];
  readonly epoch: string;
  readonly fenced: readonly FencedLog[];
  readonly after: (ms: number, then: () => void) => void;
  readonly newStore: () => string;
  /** Several texts if the state is too large for one message. */
  readonly encodeState: () => readonly string[];
  /** After so many entries the whole state replaces them, which limits a take-over's reading. */
  readonly snapshotEvery: () => number;
  readonly onOpen: () => void;
  /** Another gateway has taken over, or too many logs have lost their store. */
  readonly onLost: () => void;
}

interface Commit {
  readonly number: number;
  readonly done: () => void;
}

interface Link {
  readonly log: LimitLog;
  store: string | undefined;
  sequence: number;
  /** See `openLogWriter`; true also while it is unknown. */
  held: boolean;
  ready: boolean;
  sending: boolean;
  stored: number;
  /** Undefined if the log needs the whole state. */
  queue: { readonly number: number; readonly totals: string }[] | undefined;
  sinceWhole: number;
  unheld: UnheldLog | undefined;
}

interface StateAppend {
  readonly store: string;
  readonly expectedSequence: number;
  readonly joining: boolean;
}

interface UnheldLog {
  readonly state: LogState;
  readonly store: string;
  /** The number of an append that was sent after the look. */
  readonly proof: number;
}
