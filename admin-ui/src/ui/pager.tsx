import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Button } from './button.tsx';
import s from './pager.module.css';

interface PagerProps {
  /** Null if there is no page in that direction. */
  readonly onFirst: (() => void) | null;
  readonly onNext: (() => void) | null;
  readonly label?: string;
}

/** Cursor pagination: back to the newest page, or on to the next older one. */
export function Pager({ onFirst, onNext, label = 'Pages' }: PagerProps) {
  if (!onFirst && !onNext) return null;
  return (
    <nav className={s.pager} aria-label={label}>
      <Button
        size="s"
        icon={<ChevronLeft />}
        disabledReason={onFirst ? undefined : 'You are on the newest page'}
        onClick={onFirst ?? undefined}
      >
        Newest
      </Button>
      <Button
        size="s"
        disabledReason={onNext ? undefined : 'There are no older entries'}
        onClick={onNext ?? undefined}
      >
        Older <ChevronRight />
      </Button>
    </nav>
  );
}
