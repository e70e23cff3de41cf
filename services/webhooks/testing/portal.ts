import type { DeliveryKey } from '@causeway/deliveries';
import { contract, type MemberOperationId, type Role } from '@causeway/proto';
import { expect } from 'vitest';
import { type Asked, type Asking, type BootedWebhooks, bootWebhooks } from './boot.ts';

export interface BootedPortal extends BootedWebhooks {
  /** Checks a successful answer against the contract. The caller is a developer by default. */
  portal(operation: MemberOperationId, companyId: number, asked?: Asking): Promise<Asked>;
  end(delivery: DeliveryKey, state: 'succeeded' | 'failed', lastStatus?: number): Promise<void>;
}

export const bootPortal = async (options: Parameters<typeof bootWebhooks>[0] = {}): Promise<BootedPortal> => {
  const booted = await bootWebhooks(options);
  const { database } = booted;
  return {
    ...booted,
    portal: async (operation, companyId, asked = {}) => {
      const role: Role = asked.role ?? 'developer';
      const answer = await booted.ask(operation, companyId, { ...asked, role });
      const answers: Readonly<Record<number, { readonly schema: unknown }>> = contract[operation].answers;
      const schema = answers[answer.status]?.schema as
        | { safeParse(value: unknown): { error?: unknown } }
        | undefined;
      if (schema) expect(schema.safeParse(answer.body).error, operation).toBeUndefined();
      return answer;
    },
    end: async (delivery, state, lastStatus = state === 'succeeded' ? 200 : 500) => {
      const { company_id, event_id, subscription_id, replay_id } = delivery;
      await database.query(
        `UPDATE deliveries SET state = ?, attempts = attempts + 1, due_utc = NULL, last_status = ?, last_error = ?,
           updated_utc = ?
         WHERE company_id = ? AND event_id = ? AND subscription_id = ? AND replay_id = ? AND state = 'waiting'`,
        [
          state,
          lastStatus,
          state === 'succeeded' ? null : 'status',
          new Date(),
          company_id,
          event_id,
          subscription_id,
          replay_id,
        ],
      );
      if (replay_id > 0)
        await database.query(`UPDATE replays SET ${state} = ${state} + 1 WHERE replay_id = ?`, [replay_id]);
    },
  };
};
