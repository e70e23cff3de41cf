import type { Reply } from '../api/support/world.ts';
import { spoil } from './changes.ts';
import type { Dice } from './dice.ts';
import { type Bounds, createJudge, type Standing } from './judge.ts';
import type { Learned } from './learned.ts';
import { enlarge, type MadeRequest, validRequest } from './requests.ts';
import type { Endpoint } from './surface.ts';

export interface Run extends Bounds {
  readonly requests: number;
  /** How many are under way at a time. */
  readonly width: number;
  readonly dice: Dice;
  readonly endpoints: readonly Endpoint[];
  /** Apart for those who must not know of each other's records. */
  readonly learned: readonly Learned[];
  /** Sends it as the `who`-th of them. Rejects where the connection ends without an answer. */
  readonly send: (made: MadeRequest, standing: Standing, who: number) => Promise<Reply>;
}

export interface Result {
  /** Each once, with a request that shows it. */
  readonly findings: readonly string[];
  /** How often each operation answered with which status. */
  readonly statuses: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

/** Sends requests, right ones and spoilt ones, and judges each answer by the description. */
export const fuzz = async (run: Run): Promise<Result> => {
  const { requests, width, dice, endpoints, learned, send } = run;
  const judge = createJudge(run);
  const findings = new Map<string, string>();
  const statuses = new Map<string, Map<number, number>>();
  let left = requests;

  const one = async (): Promise<void> => {
    const endpoint = dice.pick(endpoints);
    const who = dice.below(learned.length);
    const made = validRequest(dice, endpoint, learned[who]!);
    if (dice.oneIn(250)) enlarge(dice, made);
    else if (!dice.oneIn(3)) spoil(dice, made);
    const standing: Standing = dice.oneIn(20) ? 'unknown' : dice.oneIn(30) ? 'unscoped' : 'known';
    let reply: Reply | undefined;
    let problem: string | undefined;
    try {
      reply = await send(made, standing, who);
      problem = judge(made, standing, reply);
    } catch (error) {
      problem = `no answer: ${(error as Error).message}`;
    }
    if (problem) note(made, standing, reply, problem);
    if (!reply) return;
    const own = statuses.get(endpoint.id) ?? new Map<number, number>();
    own.set(reply.status, (own.get(reply.status) ?? 0) + 1);
    statuses.set(endpoint.id, own);
    if (reply.status < 300 && standing === 'known') learned[who]!.note(endpoint, reply.json);
  };

  const note = (made: MadeRequest, standing: Standing, reply: Reply | undefined, problem: string): void => {
    const kind = `${made.endpoint.id} ${reply?.status}: ${problem}`;
    if (findings.has(kind)) return;
    const body =
      made.body === undefined ? '' : JSON.stringify(Buffer.from(made.body).toString('latin1').slice(0, 600));
    const asked = `${made.method} ${made.path.slice(0, 300)} ${JSON.stringify(made.headers)} ${body}`;
    findings.set(
      kind,
      `${kind}\n  ${standing}, ${made.changes.join(', ') || 'valid'}\n  ${asked}\n  → ${reply?.text.slice(0, 500)}`,
    );
  };

  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left-- > 0) await one();
    }),
  );
  return { findings: [...findings.values()], statuses };
};
