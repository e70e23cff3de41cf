import { Page } from '../../ui/Page.tsx';

export function DeliveryPage() {
  return <Page title="DeliveryPage">{null}</Page>;
}
