import { ConfirmDialog } from '../ui/dialog.tsx';
import { DialogButton } from '../ui/dialog-button.tsx';
import { call } from './client.ts';
import { eventQuery, personQuery } from './queries.ts';
import { queryClient } from './query-client.ts';
import { useRefusal } from './session.ts';

/** Erases a person (contract, "Erasure"). @param props.eventId the event that is shown. */
export function ErasePerson({ id, eventId }: { readonly id: number; readonly eventId?: number }) {
  const disabledReason = useRefusal('admin');
  const forget = (): void => {
    void queryClient.invalidateQueries(personQuery(id));
    // The server removes the payloads within seconds.
    for (const ms of [2_000, 10_000]) setTimeout(() => void queryClient.invalidateQueries(), ms);
    if (eventId !== undefined)
      queryClient.setQueryData(
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
