import { Page } from '../../ui/Page.tsx';

export function ReplayPage() {
  return <Page title="ReplayPage">{null}</Page>;
}
