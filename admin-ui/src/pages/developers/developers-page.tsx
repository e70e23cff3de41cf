import { useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { lazyPart } from '../../ui/lazy-part.ts';
import { Page } from '../../ui/page.tsx';
import { SkeletonLines } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { SignatureChecker } from './checker/signature-checker.tsx';
import { QuickStart } from './quick-start.tsx';
import { Signatures } from './signatures.tsx';

const Reference = lazyPart(
  () => import('./reference/reference.tsx'),
  (m) => m.Reference,
);

export function DevelopersPage() {
  const search = useSearch({ from: '/in/developers' });
  const navigate = useNavigate({ from: '/developers' });
  const tab = search.tab ?? 'start';
  return (
    <Page title="Developers" description="Call the API, and verify the webhooks you receive.">
      <Tabs
        label="Topics"
        value={tab}
        onChange={(next) => void navigate({ search: { ...search, tab: next } })}
        tabs={[
          { id: 'start', label: 'Quick start' },
          { id: 'signatures', label: 'Check signatures' },
          { id: 'checker', label: 'Signature checker' },
          { id: 'reference', label: 'Reference' },
        ]}
      >
        {tab === 'start' && <QuickStart />}
        {tab === 'signatures' && <Signatures />}
        {tab === 'checker' && <SignatureChecker />}
        {tab === 'reference' && (
          <Suspense
            fallback={
              <div aria-busy="true">
                <SkeletonLines lines={14} />
              </div>
            }
          >
            <Reference />
          </Suspense>
        )}
      </Tabs>
    </Page>
  );
}
