import { Page } from '../../ui/Page.tsx';

export function DevelopersPage() {
  return <Page title="DevelopersPage">{null}</Page>;
}
