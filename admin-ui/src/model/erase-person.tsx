import { useQueryClient } from '@tanstack/react-query';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { DialogButton } from '../ui/dialog-button.tsx';
import { call } from './client.ts';
import { eventQuery } from './queries.ts';
import { useRefusal } from './session.ts';

/** Erases a person (contract, "Erasure"). @param props.eventId the event that is shown. */
export function ErasePerson({ id, eventId }: { readonly id: number; readonly eventId?: number }) {
  const disabledReason = useRefusal('admin');
  const cache = useQueryClient();
  const forget = (): void => {
    // The server does so within seconds.
    for (const ms of [2_000, 10_000])
      setTimeout(() => {
        for (const query of ['listPortalEvents', 'getPortalEvent', 'listDeliveries', 'getDelivery'])
          void cache.invalidateQueries({ queryKey: [query] });
      }, ms);
    if (eventId !== undefined)
      cache.setQueryData(
        eventQuery(eventId).queryKey,
        (event) => event && { ...event, payload: { client_id: id, erased: true } },
      );
  };
  return (
    <DialogButton
      size="s"
      disabledReason={disabledReason}
      dialog={(shown) => (
        <ConfirmDialog
          {...shown}
          title={`Erase person ${id}?`}
          confirm="Erase person"
          danger
          typed="erase"
          act={() => call('erasePortalPerson', { params: { client_id: id } })}
          done={`Person ${id} erased`}
          onDone={() => {
            shown.onClose();
            forget();
          }}
        >
          <p>
            The record, its notes and its status history are deleted at once. Within seconds, the payloads of
            its events and what receivers answered to their deliveries are removed too.
          </p>
          <p>Systems that received the data keep it: erase it there as well. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    >
      Erase person…
    </DialogButton>
  );
}
