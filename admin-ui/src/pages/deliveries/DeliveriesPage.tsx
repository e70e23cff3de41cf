import { Page } from '../../ui/Page.tsx';

export function DeliveriesPage() {
  return <Page title="DeliveriesPage">{null}</Page>;
}
