import { Page } from '../../ui/Page.tsx';

export function NewSubscriptionPage() {
  return <Page title="NewSubscriptionPage">{null}</Page>;
}
