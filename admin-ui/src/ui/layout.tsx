import { useIsFetching } from '@tanstack/react-query';
import { createLink, useLoaderData } from '@tanstack/react-router';
import clsx from 'clsx';
import { ChevronLeft } from 'lucide-react';
import type { AnchorHTMLAttributes } from 'react';
import { type CSSProperties, type ReactNode, useEffect, useState } from 'react';
import cardCss from './card.module.css';
import layoutCss from './layout.module.css';
import pageCss from './page.module.css';
import { Loading, SkeletonLines } from './states.tsx';
import { Cut } from './values.tsx';

interface PageProps {
  readonly title: string;
  /** The title while the page loads, if the title and its description are of what it loads. */
  readonly kind?: string;
  /** A name is loaded later: on phones the title keeps its one line, and nothing below it moves. */
  readonly oneLine?: boolean;
  readonly badge?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly back?: ReactNode;
  readonly refreshing?: boolean | undefined;
  /** In the shape of the content. */
  readonly skeleton?: ReactNode;
  readonly children: ReactNode;
}

/** Shows its content, and what its head has from it, once all that its route loads is there: nothing moves then. */
export function Page(props: PageProps) {
  const isLoading = useFirstLoad();
  const { oneLine, description, back, refreshing, skeleton = <SkeletonCard lines={12} />, children } = props;
  const title = isLoading ? (props.kind ?? props.title) : props.title;
  useEffect(() => {
    document.title = `${title} · Causeway`;
  }, [title]);
  return (
    <div className={pageCss.page}>
      <div className={pageCss.bar} data-on={refreshing || undefined} />
      <header className={pageCss.head}>
        <div className={pageCss.text}>
          {back}
          <div className={pageCss.title}>
            <h1 tabIndex={-1} dir="auto" className={oneLine ? pageCss.oneLine : undefined}>
              {title}
            </h1>
            {!isLoading && props.badge}
          </div>
          {description !== undefined && !(isLoading && props.kind) && (
            <p className={pageCss.description}>{description}</p>
          )}
        </div>
        {!isLoading && props.actions && <div className={pageCss.actions}>{props.actions}</div>}
      </header>
      {isLoading ? <Loading>{skeleton}</Loading> : children}
    </div>
  );
}

/** A service that hangs holds up the rest of a page no longer. */
const longestWaitMs = 5000;

/** Whether something that the route loads (`load`) has neither answered nor failed yet; once all has, never again. */
const useFirstLoad = (): boolean => {
  const loads: unknown = useLoaderData({ strict: false });
  const count = useIsFetching({
    predicate: ({ queryHash, state }) =>
      state.status === 'pending' && Array.isArray(loads) && loads.includes(queryHash),
  });
  return useFirstWait(count > 0);
};

export const useFirstWait = (isWaiting: boolean): boolean => {
  const [isOver, setOver] = useState(!isWaiting);
  useEffect(() => {
    if (isOver) return;
    // Not before the components above have the answers.
    const timer = setTimeout(() => setOver(true), isWaiting ? longestWaitMs : 0);
    return () => clearTimeout(timer);
  }, [isWaiting, isOver]);
  return !isOver;
};

function BackAnchor({ children, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { children: string }) {
  return (
    <a {...rest}>
      <span className={pageCss.back}>
        <ChevronLeft size={14} />
        <Cut text={children} />
      </span>
    </a>
  );
}

export const BackLink = createLink(BackAnchor);

interface CardProps {
  readonly title?: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly flush?: boolean;
  readonly children?: ReactNode;
}

export function Card({ title, description, actions, flush, children }: CardProps) {
  const hasHead = title !== undefined || actions !== undefined;
  return (
    <section className={cardCss.card}>
      {hasHead && (
        <header className={cardCss.head}>
          <div>
            {title !== undefined && <h2>{title}</h2>}
            {description !== undefined && <p className={cardCss.description}>{description}</p>}
          </div>
          {actions !== undefined && <div className={cardCss.actions}>{actions}</div>}
        </header>
      )}
      {children !== undefined && (
        <div className={clsx(cardCss.body, flush && cardCss.flush, hasHead && cardCss.below)}>{children}</div>
      )}
    </section>
  );
}

export const SkeletonCard = ({ lines }: { readonly lines: number }) => (
  <Card>
    <SkeletonLines lines={lines} />
  </Card>
);

interface StackProps {
  readonly gap?: 'xs' | 's' | 'm';
  readonly children: ReactNode;
}

export function Stack({ gap = 'm', children }: StackProps) {
  return <div className={clsx(layoutCss.stack, layoutCss[`gap-${gap}`])}>{children}</div>;
}

interface RowProps extends StackProps {
  readonly align?: CSSProperties['alignItems'];
  readonly justify?: CSSProperties['justifyContent'];
  readonly nowrap?: boolean;
}

export function Row({ gap = 's', align = 'center', justify, nowrap, children }: RowProps) {
  return (
    <div
      className={clsx(layoutCss.row, layoutCss[`gap-${gap}`])}
      style={{ alignItems: align, justifyContent: justify, flexWrap: nowrap ? 'nowrap' : undefined }}
    >
      {children}
    </div>
  );
}

export function Grid({ min, children }: { readonly min: number; readonly children: ReactNode }) {
  return (
    <div
      className={layoutCss.grid}
      style={{ gridTemplateColumns: `repeat(auto-fit, minmax(min(100%, ${min}rem), 1fr))` }}
    >
      {children}
    </div>
  );
}

interface SplitProps {
  readonly aside: ReactNode;
  /** The aside holds more than facts. */
  readonly wide?: boolean;
  readonly children: ReactNode;
}

export function Split({ children, aside, wide }: SplitProps) {
  return (
    <div className={clsx(layoutCss.split, wide && layoutCss.wide)}>
      <div className={layoutCss.stackInner}>{children}</div>
      <aside className={layoutCss.stackInner}>{aside}</aside>
    </div>
  );
}

interface FactsProps {
  /** By their labels; what is absent has no place. */
  readonly facts: Readonly<Record<string, ReactNode>>;
  readonly columns?: number;
}

export function Facts({ facts, columns }: FactsProps) {
  return (
    <dl
      className={clsx(layoutCss.facts, columns && layoutCss.columns)}
      style={
        columns ? { gridTemplateColumns: `repeat(auto-fit, minmax(min(100%, ${columns}rem), 1fr))` } : {}
      }
    >
      {Object.entries(facts).map(
        ([label, value]) =>
          value != null &&
          value !== false && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export const CodeLines = ({ lines }: { readonly lines: readonly string[] }) => (
  <Stack gap="xs">
    {lines.map((line) => (
      <code key={line}>{line}</code>
    ))}
  </Stack>
);

export function Quiet({ children, small }: { readonly children: ReactNode; readonly small?: boolean }) {
  return <span className={clsx(layoutCss.quiet, small && layoutCss.small)}>{children}</span>;
}
