import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ActButton } from '../ui/button.tsx';
import { plural } from '../ui/format.ts';
import { Quiet, Row, Stack } from '../ui/layout.tsx';
import { TimeAgo } from '../ui/values.tsx';
import { call, operationQuery } from './client.ts';
import { deliveryNameOf } from './deliveries.ts';

/** The links to deliveries that work, of one delivery or of all. Only developers may see them. */
export const useSharedLinks = (deliveryId?: string) =>
  (useQuery(operationQuery('listDeliveryShares', {})).data?.shares ?? []).filter(
    (share) => deliveryId === undefined || share.deliveryId === deliveryId,
  );

export function SharedLinks({ deliveryId }: { readonly deliveryId?: string }) {
  const shares = useSharedLinks(deliveryId);
  if (shares.length === 0) return null;
  return (
    <Stack gap="s">
      {deliveryId !== undefined && <strong>Links that work</strong>}
      {shares.map((share) => (
        <Row key={share.id} justify="space-between" nowrap>
          <span>
            {deliveryId === undefined && (
              <Link to="/deliveries/$event/$subscription/$replay" params={deliveryNameOf(share.deliveryId)}>
                Delivery {share.deliveryId}
              </Link>
            )}{' '}
            <bdi>{share.createdBy}</bdi>, ends <TimeAgo time={share.expiresUtc} />
            <br />
            <Quiet small>
              {share.opened === 0 ? 'Never opened' : `Opened ${plural(share.opened, '# time')}`}
              {share.lastOpenedUtc !== null && (
                <>
                  , last <TimeAgo time={share.lastOpenedUtc} />
                </>
              )}
            </Quiet>
          </span>
          <ActButton
            size="s"
            aria-label={`Revoke link to delivery ${share.deliveryId}`}
            act={() => call('revokeDeliveryShare', { params: { id: share.id } })}
            done="Link revoked"
          >
            Revoke link
          </ActButton>
        </Row>
      ))}
    </Stack>
  );
}
