import { Page } from '../../ui/Page.tsx';

export function OverviewPage() {
  return <Page title="Overview">x</Page>;
}
