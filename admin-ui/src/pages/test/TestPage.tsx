import { Page } from '../../ui/Page.tsx';

export function TestPage() {
  return <Page title="TestPage">{null}</Page>;
}
