import type { DeliveryTailEntry } from '@causeway/proto';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { operationUrl, streamRefusal } from '../../api/client.ts';
import { sessionQuery } from '../../app/session.ts';
import { ApiError, errorText } from '../../errors.ts';
import { useReachability } from '../../reachability.ts';

export type TailEntry = DeliveryTailEntry;

/** Between two tries after a refusal. */
const againMs = 3000;

const tailPath = '/deliveries/tail';

/** Rows shown and, while paused, buffered. */
const maxRows = 200;

export interface Tail {
  /** `lost`: it connects again by itself. `closed`: it does not. */
  readonly state: 'connecting' | 'open' | 'lost' | 'closed';
  /** Why the server refused the connection, if it did. */
  readonly refusal: string | null;
  /** Newest first. */
  readonly entries: readonly TailEntry[];
  readonly paused: boolean;
  /** How many arrived since the pause began. */
  readonly waiting: number;
  /** How many the server left out because this browser was too slow. */
  readonly dropped: number;
  /** Whether it was disconnected for a while, so that attempts may be missing. */
  readonly interrupted: boolean;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly reconnect: () => void;
}

/** The company's live attempts. Disconnects while the tab is hidden. */
export const useTail = (): Tail => {
  const [state, setState] = useState<Tail['state']>('connecting');
  const [refusal, setRefusal] = useState<string | null>(null);
  const [entries, setEntries] = useState<readonly TailEntry[]>([]);
  const [held, setHeld] = useState<readonly TailEntry[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [dropped, setDropped] = useState(0);
  const [interrupted, setInterrupted] = useState(false);
  const [paused, setPaused] = useState(false);
  const [turn, setTurn] = useState(0);
  const pausedNow = useRef(paused);
  pausedNow.current = paused;
  const queryClient = useQueryClient();
  // A connection that breaks without a word stays open for the browser; other requests notice it.
  const { reachable } = useReachability();

  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` asks for a new connection
  useEffect(() => {
    if (!reachable) {
      setState('lost');
      setInterrupted(true);
      return;
    }
    let source: EventSource | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    const take = (more: readonly TailEntry[]): void => {
      const newest = more.toReversed();
      const add = (before: readonly TailEntry[]) => [...newest, ...before].slice(0, maxRows);
      if (pausedNow.current) {
        setHeld(add);
        setWaiting((count) => count + more.length);
      } else setEntries(add);
    };
    const open = (): void => {
      setState((before) => (before === 'lost' ? before : 'connecting'));
      setRefusal(null);
      source = new EventSource(operationUrl(tailPath));
      source.addEventListener('ready', () => setState('open'));
      source.addEventListener('attempts', (event) => take(JSON.parse(event.data) as TailEntry[]));
      source.addEventListener('dropped', (event) => setDropped((count) => count + Number(event.data)));
      source.addEventListener('end', () => {
        close();
        setState('closed');
        void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
      });
      source.addEventListener('error', () => {
        setState('lost');
        setInterrupted(true);
        // The browser connects again by itself after a broken connection, but not after a refusal.
        if (source?.readyState !== EventSource.CLOSED) return;
        close();
        streamRefusal(tailPath)
          .catch((error: unknown) => error)
          .then((error) => {
            const final = error instanceof ApiError && error.status >= 400 && error.status < 500;
            setState(final ? 'closed' : 'lost');
            setRefusal(error ? errorText(error) : null);
            if (!final) again = setTimeout(look, againMs);
          });
      });
    };
    const close = (): void => {
      clearTimeout(again);
      source?.close();
      source = null;
    };
    const look = (): void => {
      if (document.hidden) {
        close();
        setInterrupted(true);
      } else if (source === null) open();
    };
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      close();
    };
  }, [turn, queryClient, reachable]);

  const resume = useCallback(() => {
    setPaused(false);
    setWaiting(0);
    setEntries((before) => [...held, ...before].slice(0, maxRows));
    setHeld([]);
  }, [held]);

  return {
    state,
    refusal,
    entries,
    paused,
    waiting,
    dropped,
    interrupted,
    pause: () => setPaused(true),
    resume,
    reconnect: () => setTurn(turn + 1),
  };
};
