import { Link } from '@tanstack/react-router';
import { PublicFrame } from './public-frame.tsx';

export function NotFound() {
  return (
    <PublicFrame title="There is no such page">
      <p>
        The address may be mistyped, or what it named is gone. <Link to="/">Go to the overview</Link>.
      </p>
    </PublicFrame>
  );
}
