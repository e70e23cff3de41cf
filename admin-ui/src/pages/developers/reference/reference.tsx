import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Card } from '../../../ui/card.tsx';
import { Field, TextInput } from '../../../ui/field.tsx';
import { Loaded, SkeletonLines } from '../../../ui/states.tsx';
import { type Document, documentQuery, type Listed, operationsOf } from './document.ts';
import { MethodBadge } from './method-badge.tsx';
import { OperationView } from './operation-view.tsx';
import s from './reference.module.css';

/** The OpenAPI document, one operation at a time. */
export function Reference() {
  const query = useQuery(documentQuery);
  return (
    <Loaded
      query={query}
      skeleton={
        <Card>
          <SkeletonLines lines={16} />
        </Card>
      }
    >
      {(document) => <Browser document={document} />}
    </Loaded>
  );
}

function Browser({ document }: { readonly document: Document }) {
  const search = useSearch({ from: '/in/developers' });
  const navigate = useNavigate({ from: '/developers' });
  const [text, setText] = useState('');
  const all = operationsOf(document);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = all.filter(({ method, path, operation }) =>
    words.every((word) => `${method} ${path} ${operation.summary}`.toLowerCase().includes(word)),
  );
  const chosen = all.find((one) => one.operation.operationId === search.operation) ?? all[0];
  const choose = ({ operation }: Listed): void =>
    void navigate({ search: { ...search, operation: operation.operationId }, replace: true });
  return (
    <div className={s.browser}>
      <nav aria-label="Operations" className={s.nav}>
        <Field label="Search operations" hideLabel>
          <TextInput
            type="search"
            placeholder="Search operations…"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        {document.tags.map((tag) => {
          const ofTag = shown.filter((one) => one.operation.tags.includes(tag.name));
          if (ofTag.length === 0) return null;
          return (
            <div key={tag.name}>
              <p className={s.tag}>{tag.name}</p>
              <ul>
                {ofTag.map((one) => (
                  <li key={one.operation.operationId}>
                    <button
                      type="button"
                      className={s.link}
                      aria-current={one === chosen ? 'true' : undefined}
                      onClick={() => choose(one)}
                    >
                      <MethodBadge method={one.method} />
                      <span>{one.operation.summary}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
        <p className={s.file}>
          <a href="/api/v1/openapi.json" download>
            Download openapi.json
          </a>
        </p>
      </nav>
      {chosen && <OperationView key={chosen.operation.operationId} document={document} listed={chosen} />}
    </div>
  );
}
