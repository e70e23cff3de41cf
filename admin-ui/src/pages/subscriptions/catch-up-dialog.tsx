import { useState } from 'react';
import { useMutation } from '../../model/client.ts';
import { nameOf, type Subscription } from '../../model/subscriptions.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { errorText } from '../../ui/errors.ts';
import { Checkbox, Fieldset } from '../../ui/form.tsx';
import { number, plural } from '../../ui/format.ts';
import { Row, Stack } from '../../ui/layout.tsx';
import { StateBadge } from '../../ui/values.tsx';
import { backlogOf, catchUp, isBehind, type Step, sizeOf, stepTexts, useMissedWhileOff } from './catch-up.ts';

interface CatchUpDialogProps {
  readonly open: boolean;
  readonly subscriptions: readonly Subscription[];
  readonly onClose: () => void;
}

/** Catches up several receivers, each as on its own page, after a test. */
export function CatchUpDialog({ open, subscriptions, onClose }: CatchUpDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Catch up"
      description="Each receiver is tested first. One that fails the test stays as it is."
    >
      {open && <Receivers subscriptions={subscriptions} onClose={onClose} />}
    </Dialog>
  );
}

type Progress = { readonly step: Step | 'begun' } | { readonly error: unknown };

function Receivers({ subscriptions, onClose }: Omit<CatchUpDialogProps, 'open'>) {
  const [progress, setProgress] = useState<ReadonlyMap<number, Progress>>(new Map());
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  // Those that are done stay in the list.
  const rows = subscriptions.filter((one) => isBehind(one) || progress.has(one.id));
  const missed = useMissedWhileOff(rows).counts;
  const open = rows.filter((one) => isBehind(one) && !left.has(one.id));
  const size = (one: Subscription) => sizeOf(backlogOf(one, missed.get(one.id)));
  const note = (id: number, what: Progress) => setProgress((before) => new Map(before).set(id, what));
  const run = useMutation({
    mutationFn: async (chosen: readonly Subscription[]) => {
      const queue = [...chosen];
      const work = async () => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const { id } = next;
          try {
            await catchUp(id, { tests: true, onStep: (step) => note(id, { step }) });
            note(id, { step: 'begun' });
          } catch (error) {
            note(id, { error });
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
    },
  });
  const off = open.filter(({ enabled }) => !enabled).length;
  const total = number(open.reduce((sum, one) => sum + size(one), 0));
  return (
    <Stack>
      {rows.length === 0 && <p>Every receiver has got everything, or gets it without help.</p>}
      <Fieldset legend="Receivers">
        {rows.map((row) => (
          <Checkbox
            key={row.id}
            checked={!left.has(row.id)}
            onChange={({ target }) => {
              const next = new Set(left);
              if (target.checked) next.delete(row.id);
              else next.add(row.id);
              setLeft(next);
            }}
            label={<bdi>{nameOf(row)}</bdi>}
            description={<Receiver size={size(row)} isOff={!row.enabled} progress={progress.get(row.id)} />}
          />
        ))}
      </Fieldset>
      <Row justify="flex-end">
        <Button onClick={onClose}>Close</Button>
        <Button
          variant="primary"
          pending={run.isPending}
          disabledReason={open.length === 0 ? 'Nothing is left to do' : undefined}
          onClick={() => run.mutate(open)}
        >
          {off > 0 ? `Enable ${number(off)} and deliver ${total}` : `Deliver ${total}`}
        </Button>
      </Row>
    </Stack>
  );
}

/** Receivers that hang delay the others no longer than this allows. */
const atOnce = 4;

interface ReceiverProps {
  readonly size: number;
  readonly isOff: boolean;
  readonly progress: Progress | undefined;
}

function Receiver({ size, isOff, progress }: ReceiverProps) {
  const left = plural(size, '# has not arrived', '# have not arrived');
  if (progress && 'error' in progress)
    return (
      <>
        <StateBadge tone="bad" label={isOff ? 'Still off' : 'Failed'} /> {errorText(progress.error)}
      </>
    );
  if (progress && progress.step !== 'begun') return stepTexts[progress.step];
  if (progress && size === 0) return <StateBadge tone="good" label="Everything has arrived" />;
  return isOff ? `Off; ${left}` : left;
}
