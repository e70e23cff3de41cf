import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Fieldset } from '../../ui/choice.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { Row } from '../../ui/layout.tsx';
import { Loaded, SkeletonLines } from '../../ui/states.tsx';
import s from './event-type-picker.module.css';
import { eventTypesQuery } from './queries.ts';
import type { EventType } from './state.ts';

interface EventTypePickerProps {
  readonly value: readonly EventType[];
  readonly onChange: (value: readonly EventType[]) => void;
  readonly error: string | undefined;
}

/** Every event type with its description and a sample; searchable. */
export function EventTypePicker({ value, onChange, error }: EventTypePickerProps) {
  const [text, setText] = useState('');
  const query = useQuery(eventTypesQuery);
  const all = query.data?.eventTypes ?? [];
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = all.filter((one) =>
    words.every((word) => `${one.type} ${one.title} ${one.description}`.toLowerCase().includes(word)),
  );
  const everything = all.length > 0 && value.length === all.length;
  return (
    <Fieldset legend="Events to send" error={error}>
      <div className={s.box}>
        <div className={s.bar}>
          <Field label="Search event types" hideLabel>
            <TextInput
              type="search"
              placeholder="Search: payment, client…"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </Field>
          <Row nowrap>
            <span className={s.count} role="status">
              {value.length} chosen
            </span>
            <Button size="s" onClick={() => onChange(everything ? [] : all.map((one) => one.type))}>
              {everything ? 'None' : 'All'}
            </Button>
          </Row>
        </div>
        <Loaded
          query={query}
          skeleton={
            <div className={s.waiting}>
              <SkeletonLines lines={8} />
            </div>
          }
        >
          {() => (
            <ul className={s.list}>
              {shown.map((one) => (
                <li key={one.type}>
                  <Checkbox
                    checked={value.includes(one.type)}
                    onChange={(event) =>
                      onChange(
                        event.target.checked
                          ? [...value, one.type]
                          : value.filter((type) => type !== one.type),
                      )
                    }
                    label={
                      <>
                        {one.title} <Badge mono>{one.type}</Badge>
                      </>
                    }
                    description={one.description}
                  />
                  <details className={s.sample}>
                    <summary>
                      Sample<span className="visually-hidden"> of {one.title}</span>
                    </summary>
                    <CodeBlock
                      code={JSON.stringify(one.sample, null, 2)}
                      language="json"
                      label={`sample of ${one.type}`}
                    />
                  </details>
                </li>
              ))}
              {shown.length === 0 && <li className={s.none}>No event type matches.</li>}
            </ul>
          )}
        </Loaded>
      </div>
    </Fieldset>
  );
}
