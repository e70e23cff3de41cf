import { Page } from '../../ui/Page.tsx';

export function EventPage() {
  return <Page title="EventPage">{null}</Page>;
}
