import { useNavigate, useSearch } from '@tanstack/react-router';
import { useBaseUrl } from '../../app/session.ts';
import { CodeBlock } from '../../ui/code.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { snippets } from './snippets/index.ts';
import { languages } from './snippets/languages.ts';

/** One program in every language. The chosen language is in the URL and applies to all programs. */
export function SnippetTabs({ kind }: { readonly kind: 'start' | 'verify' }) {
  const search = useSearch({ from: '/in/developers' });
  const navigate = useNavigate({ from: '/developers' });
  const baseUrl = useBaseUrl();
  const language = search.language ?? (kind === 'start' ? 'bash' : 'node');
  const { label } = snippets[language];
  return (
    <Tabs
      label="Languages"
      value={language}
      onChange={(next) => void navigate({ search: { ...search, language: next }, replace: true })}
      tabs={languages.map((id) => ({
        id,
        label: id === 'bash' && kind === 'verify' ? 'bash' : snippets[id].label,
      }))}
    >
      <CodeBlock
        code={snippets[language][kind].replaceAll('__BASE_URL__', baseUrl).trimEnd()}
        language="code"
        label={`program in ${label}`}
        maxLines={60}
      />
    </Tabs>
  );
}
