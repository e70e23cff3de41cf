import { type SubscriptionRow, toolManaged } from '@causeway/proto';

/** By which way a subscription is changed, and what that way allows. */
export interface Editor {
  /** As the subscription's record names it: `disabled through the API`. */
  readonly name: string;
  /** Whether it may switch a tool's own subscription off and on; nothing else of such a one can be edited. */
  readonly switchesManaged: boolean;
}

export const throughApi: Editor = { name: 'the API', switchesManaged: false };
export const throughPortal: Editor = { name: 'the portal', switchesManaged: true };

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
