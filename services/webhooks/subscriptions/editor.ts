import type { SubscriptionRow } from '@causeway/deliveries';
import { type AuditSource, byKey, byMember, type KeyOperation, toolManaged } from '@causeway/proto';
import type { OperationCall, Trx } from '@causeway/runtime';
import type { Tables } from '../tables.ts';

export interface Editor {
  /** Its name in the subscription's record: `disabled through the API`. */
  readonly name: string;
  /** Whether it may disable and enable a subscription that a tool manages, which cannot be edited otherwise. */
  readonly switchesManaged: boolean;
  readonly by: AuditSource;
}

/** The caller of an operation that keys and members have in common. */
export type Caller =
  | (Pick<OperationCall<KeyOperation>, 'audience' | 'keyId' | 'address'> & { readonly requestId: string })
  | ({ readonly audience: 'member' } & Parameters<typeof byMember>[0]);

export const editorOf = (call: Caller): Editor =>
  call.audience === 'key'
    ? { name: 'the API', switchesManaged: false, by: byKey(call) }
    : { name: portalName, switchesManaged: true, by: byMember(call) };

const portalName = 'the portal';

/** @param changes the names of the fields to change. @throws Problem `tool_managed` */
export const assertEditable = (
  { managed_by }: Pick<SubscriptionRow, 'managed_by'>,
  editor: Editor,
  changes: readonly string[],
): void => {
  if (managed_by === null) return;
  if (editor.switchesManaged && changes.every((name) => name === 'enabled' || name === 'paused')) return;
  throw toolManaged(managed_by);
};

export const disabledThrough = ({ name }: Pick<Editor, 'name'>): string => `disabled through ${name}`;

export const disabledByMember = disabledThrough({ name: portalName });

/** The fields of an enabled subscription. One that has lost its tool is then no longer removed. */
export const switchedOn = {
  enabled: 1,
  disabled_reason: null,
  disabled_utc: null,
  auto_disabled: 0,
  expires_utc: null,
} as const;

/**
 * Writes the command row in the transaction of the change. A dispatcher applies it to the queue and the
 * deliveries; `askDispatcher` makes it do so at once.
 */
export const noteChange = async (
  trx: Trx<Tables>,
  { company_id, subscription_id }: Pick<SubscriptionRow, 'company_id' | 'subscription_id'>,
  what: 'created' | 'disabled' | 'enabled' | 'moved' | 'throttled' | 'deleted',
  now: Date,
): Promise<void> => {
  // An earlier change that is not applied yet must be applied too.
  const change = {
    changed_utc: now,
    ...(what === 'disabled' && { hold_utc: now }),
    ...((what === 'enabled' || what === 'moved') && { resets_failures: 1 }),
  };
  await trx
    .insertInto('subscription_changes')
    .values({ company_id, subscription_id, ...change })
    .onDuplicateKeyUpdate(change)
    .execute();
};
