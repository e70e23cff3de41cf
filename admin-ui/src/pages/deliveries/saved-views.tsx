import { Bookmark } from 'lucide-react';
import { useState } from 'react';
import { useMutation } from '../../model/client.ts';
import type { DeliverySearch } from '../../model/deliveries.ts';
import { useSession } from '../../model/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Form, TextInput } from '../../ui/form.tsx';
import { useDraft } from '../../ui/form-draft.ts';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.ts';

interface SavedView {
  readonly name: string;
  readonly search: DeliverySearch;
}

const maxViews = 20;
const form = 'deliveries/view';

interface SavedViewsProps {
  readonly search: DeliverySearch;
  readonly onChoose: (search: DeliverySearch) => void;
}

/** Filters by name, in this browser. The URL of a view shares it with others. */
export function SavedViews({ search, onChoose }: SavedViewsProps) {
  const { user, company } = useSession();
  const place = `causeway.views.${company.id}.${user.id}`;
  const [views, setViews] = useState(() => readViews(place));
  const [naming, setNaming] = useState(false);
  const draft = useDraft(form, { name: '' }, { name: 'Name' });
  const { name } = draft.values;
  const close = (): void => setNaming(false);
  const keep = (next: readonly SavedView[]): void => {
    setViews(next);
    try {
      localStorage.setItem(place, JSON.stringify(next));
    } catch {
      toast('This browser does not let the portal save views');
    }
  };
  const add = useMutation({
    mutationFn: async () =>
      keep([...views.filter((one) => one.name !== name.trim()), { name: name.trim(), search }]),
    meta: { saves: form },
    onSuccess: () => {
      draft.discard();
      close();
    },
  });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  const current = views.find((one) => JSON.stringify(one.search) === JSON.stringify(search));
  return (
    <>
      <Menu
        trigger={<Button icon={<Bookmark />}>{current?.name ?? 'Views'}</Button>}
        actions={[
          ...views.map((one) => ({ label: one.name, onSelect: () => onChoose(one.search) })),
          ...(views.length > 0 ? (['separator'] as const) : []),
          {
            label: 'Save this view…',
            disabledReason: isFiltered
              ? views.length < maxViews
                ? undefined
                : `Delete one of your ${maxViews} views first`
              : 'Choose filters first',
            onSelect: () => setNaming(true),
          },
          {
            label: 'Copy link to this view',
            onSelect: () =>
              void navigator.clipboard.writeText(location.href).then(() => toast('Link copied')),
          },
          ...(current
            ? [
                {
                  label: `Delete view “${current.name}”`,
                  danger: true,
                  onSelect: () => keep(views.filter((one) => one !== current)),
                },
              ]
            : []),
        ]}
      />
      <Dialog open={naming} onClose={close} title="Save this view" size="s">
        <Form
          draft={draft}
          mutation={add}
          submit="Save view"
          submitDisabledReason={name.trim() ? undefined : 'Give the view a name'}
          onCancel={close}
        >
          <Field label="Name" hint="Kept in this browser. To share a view, share the page’s address.">
            <TextInput value={name} maxLength={60} onValue={(value) => draft.set({ name: value })} />
          </Field>
        </Form>
      </Dialog>
    </>
  );
}

const readViews = (place: string): readonly SavedView[] => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(stored) ? (stored as SavedView[]) : [];
  } catch {
    return [];
  }
};
