import { formerLimitStream, formerLimitSubject } from '@causeway/proto';
import { headers } from '@nats-io/transport-node';
import type { Ask } from './ask.ts';
import { createCounts, type Totals, toTotals } from './counts.ts';

/**
 * The log of the previous release, which kept increments in one replicated stream. While gateways of both releases run,
 * an owner also appends its epoch to that log. This fences an owner of the previous release off, and its gateways find
 * the new owner there. Delete this file and the stream with the next release.
 */
export interface FormerLog {
  /** Takes the former log over and returns its counts; none if it does not answer. */
  takeOver(epoch: string): Promise<Totals>;
}

/** @returns undefined if no gateway of the previous release has counted lately. */
export const openFormerLog = async (ask: Ask, partition: number): Promise<FormerLog | undefined> => {
  const subject = formerLimitSubject(partition);
  const read = (query: object): Promise<FormerMessage | undefined> =>
    new Promise((resolve) =>
      ask(`$JS.API.STREAM.MSG.GET.${formerLimitStream}`, JSON.stringify(query), { timeoutMs }, (reply) =>
        resolve(
          reply === undefined || reply === 'nobody'
            ? undefined
            : reply.json<{ message?: FormerMessage }>().message,
        ),
      ),
    );
  const readLast = () => read({ last_by_subj: subject });

  const readCounts = async (last: FormerMessage): Promise<Totals> => {
    const counts = createCounts();
    const first = parse(last).snapshot ? last : await read({ next_by_subj: subject, seq: 1 });
    for (let from = first?.seq ?? last.seq; from <= last.seq; from += readsAtOnce) {
      const sequences = Array.from(
        { length: Math.min(readsAtOnce, last.seq - from + 1) },
        (_, at) => from + at,
      );
      for (const message of await Promise.all(sequences.map((seq) => read({ seq })))) {
        if (message?.subject !== subject) continue;
        const { counts: increments, snapshot } = parse(message);
        if (snapshot) counts.clear();
        for (const [window, pairs] of Object.entries(increments)) {
          const slots = counts.get(Number(window)) ?? new Map<number, number>();
          counts.set(Number(window), slots);
          for (let at = 0; at < pairs.length; at += 2)
            slots.set(pairs[at]!, (slots.get(pairs[at]!) ?? 0) + pairs[at + 1]!);
        }
      }
    }
    return toTotals(counts);
  };

  if ((await readLast()) === undefined) return undefined;
  return {
    takeOver: async (epoch) => {
      for (let tries = 0; tries < 3; tries++) {
        const last = await readLast();
        if (!last) return [];
        const expected = headers();
        expected.set('Nats-Expected-Last-Subject-Sequence', String(last.seq));
        const stored = await new Promise<boolean>((resolve) =>
          ask(subject, JSON.stringify({ epoch, counts: {} }), { timeoutMs, headers: expected }, (reply) =>
            resolve(
              reply !== undefined &&
                reply !== 'nobody' &&
                reply.json<{ error?: object }>().error === undefined,
            ),
          ),
        );
        if (stored) return readCounts(last);
      }
      return [];
    },
  };
};

const timeoutMs = 250;
const readsAtOnce = 256;

interface FormerMessage {
  readonly subject: string;
  readonly seq: number;
  readonly data?: string;
}

const parse = ({ data = '' }: FormerMessage) =>
  JSON.parse(Buffer.from(data, 'base64').toString()) as {
    readonly counts: Readonly<Record<string, readonly number[]>>;
    readonly snapshot?: true;
  };
