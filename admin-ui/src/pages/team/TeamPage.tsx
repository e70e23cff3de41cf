import { Page } from '../../ui/Page.tsx';

export function TeamPage() {
  return <Page title="TeamPage">{null}</Page>;
}
