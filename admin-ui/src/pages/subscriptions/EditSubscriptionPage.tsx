import { Page } from '../../ui/Page.tsx';

export function EditSubscriptionPage() {
  return <Page title="EditSubscriptionPage">{null}</Page>;
}
