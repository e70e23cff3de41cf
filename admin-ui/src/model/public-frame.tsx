import { type ReactNode, useEffect } from 'react';
import s from './public-frame.module.css';

export function PublicFrame({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Causeway`;
  }, [title]);
  return (
    <main className={s.frame}>
      <div className={s.box}>
        <header className={s.head}>
          <Logo size={40} />
          <h1 tabIndex={-1}>{title}</h1>
        </header>
        <div className={s.card}>{children}</div>
      </div>
      <Arches />
    </main>
  );
}

function Arches() {
  return (
    <svg className={s.arches} aria-hidden="true" width="100%" height="140">
      <defs>
        <pattern id="arches" width="120" height="140" patternUnits="userSpaceOnUse" x="50%">
          <path d="M0 30h120M14 140V92a46 46 0 0 1 92 0v48M0 42h120" fill="none" stroke="currentColor" />
        </pattern>
      </defs>
      <rect width="100%" height="140" fill="url(#arches)" />
    </svg>
  );
}

export function Logo({ size }: { readonly size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path
        d="M5 12h22M8 23v-3a3.5 3.5 0 0 1 7 0v3M17 23v-3a3.5 3.5 0 0 1 7 0v3"
        fill="none"
        stroke="var(--on-accent)"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
    </svg>
  );
}
