import { Link } from '@tanstack/react-router';
import { PublicFrame } from './public-frame.tsx';

export function NotFound() {
  return (
    <PublicFrame title="Page not found">
      <p>
        Check the URL. The page may have been deleted. <Link to="/">Go to the overview</Link>.
      </p>
    </PublicFrame>
  );
}
