import { Page } from '../../ui/Page.tsx';

export function SubscriptionPage() {
  return <Page title="SubscriptionPage">{null}</Page>;
}
