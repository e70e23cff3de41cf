import {
  type AuditSource,
  byMember,
  type KeyOperation,
  type SubscriptionRow,
  toolManaged,
} from '@causeway/proto';
import type { OperationCall } from '@causeway/runtime';

/** The interface that changes a subscription, and what it allows. */
export interface Editor {
  /** Its name in the subscription's record: `disabled through the API`. */
  readonly name: string;
  /** Whether it may disable and enable a subscription that a tool manages, which cannot be edited otherwise. */
  readonly switchesManaged: boolean;
  /** The actor, for the audit log. */
  readonly by: AuditSource;
}

export const throughApi = ({
  keyId,
  address,
  requestId,
}: Pick<OperationCall<KeyOperation>, 'keyId' | 'address' | 'requestId'>): Editor => ({
  name: 'the API',
  switchesManaged: false,
  by: {
    kind: 'key',
    id: keyId,
    name: `API key ${keyId}`,
    address,
    userAgent: null,
    requestId,
  },
});

export const throughPortal = (call: Parameters<typeof byMember>[0]): Editor => ({
  name: 'the portal',
  switchesManaged: true,
  by: byMember(call),
});

/**
 * @param changes the names of the fields to change.
 * @throws Problem `tool_managed`
 */
export const assertEditable = (
  { managed_by }: Pick<SubscriptionRow, 'managed_by'>,
  editor: Editor,
  changes: readonly string[],
): void => {
  if (managed_by === null) return;
  if (editor.switchesManaged && changes.every((name) => name === 'enabled')) return;
  throw toolManaged(managed_by);
};
