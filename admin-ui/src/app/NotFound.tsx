import { Link } from '@tanstack/react-router';
import { Page } from '../ui/Page.tsx';

export function NotFound() {
  return (
    <main>
      <Page title="There is no such page">
        <p>
          The address may be mistyped, or what it named is gone. <Link to="/">Go to the overview</Link>.
        </p>
      </Page>
    </main>
  );
}
