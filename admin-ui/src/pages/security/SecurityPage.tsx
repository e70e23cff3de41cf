import { Page } from '../../ui/Page.tsx';

export function SecurityPage() {
  return <Page title="SecurityPage">{null}</Page>;
}
