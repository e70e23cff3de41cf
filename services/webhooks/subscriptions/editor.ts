import {
  type AuditSource,
  byMember,
  type KeyOperation,
  type SubscriptionRow,
  toolManaged,
} from '@causeway/proto';
import type { OperationCall } from '@causeway/runtime';

/** By which way a subscription is changed, and what that way allows. */
export interface Editor {
  /** As the subscription's record names it: `disabled through the API`. */
  readonly name: string;
  /** Whether it may switch a tool's own subscription off and on; nothing else of such a one can be edited. */
  readonly switchesManaged: boolean;
  /** Who it is, for the audit log. */
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
 * @param changes what is to be changed, by name.
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
