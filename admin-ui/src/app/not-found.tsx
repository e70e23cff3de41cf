import { Link } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';

/** In the frame of the signed-in pages, so that the navigation stays. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty
        icon={<Compass />}
        title="Nothing is at this address"
        action={<Link to="/">Go to the overview</Link>}
      >
        Check the URL. What it showed may have been deleted.
      </Empty>
    </Page>
  );
}
