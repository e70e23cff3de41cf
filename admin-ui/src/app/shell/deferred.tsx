import { type ReactElement, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';

interface DeferredProps {
  /** Stands in for the control until its code is loaded. */
  readonly placeholder: (events: {
    readonly onClick: () => void;
    readonly onPointerEnter: () => void;
  }) => ReactElement;
  /** @param pressed whether the stand-in was pressed, so that the control opens at once. */
  readonly children: (pressed: boolean) => ReactNode;
}

/** After the first page has settled. */
const delayMs = 1500;

/** A control whose code is not part of the first page: it loads on first use, or when the page has settled. */
export function Deferred({ placeholder, children }: DeferredProps) {
  const [wanted, setWanted] = useState<'later' | 'shown' | 'pressed'>('later');
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const timer = setInterval(() => {
      // Whoever has the focus on the stand-in keeps it.
      if (!place.current?.contains(document.activeElement))
        setWanted((before) => (before === 'later' ? 'shown' : before));
    }, delayMs);
    return () => clearInterval(timer);
  }, []);
  const standIn = placeholder({
    onClick: () => setWanted('pressed'),
    onPointerEnter: () => setWanted((before) => (before === 'later' ? 'shown' : before)),
  });
  return (
    <span ref={place}>
      {wanted === 'later' ? (
        standIn
      ) : (
        <Suspense fallback={standIn}>{children(wanted === 'pressed')}</Suspense>
      )}
    </span>
  );
}
