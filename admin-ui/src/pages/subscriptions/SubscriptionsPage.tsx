import { Page } from '../../ui/Page.tsx';

export function SubscriptionsPage() {
  return <Page title="SubscriptionsPage">{null}</Page>;
}
