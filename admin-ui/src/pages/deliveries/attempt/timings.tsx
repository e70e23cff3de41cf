import type { Answer } from '../../../api/types.ts';
import { milliseconds } from '../../../ui/format.ts';
import s from './timings.module.css';

/** The stages of an attempt, as bars on one scale. */
export function Timings({
  attempt: { timings, elapsedMs },
}: {
  readonly attempt: Pick<Answer<'testPortalSubscription'>, 'timings' | 'elapsedMs'>;
}) {
  const { dnsMs, connectMs, tlsMs, firstByteMs } = timings;
  const setUp = (dnsMs ?? 0) + (connectMs ?? 0) + (tlsMs ?? 0);
  const wait = firstByteMs === null ? null : Math.max(firstByteMs - setUp, 0);
  const steps = [
    { label: 'DNS lookup', ms: dnsMs },
    { label: 'Connect', ms: connectMs },
    { label: 'TLS handshake', ms: tlsMs },
    { label: 'Wait for response', ms: wait },
    { label: 'Read response', ms: firstByteMs === null ? null : Math.max(elapsedMs - firstByteMs, 0) },
  ];
  let start = 0;
  const total = Math.max(elapsedMs, 1);
  return (
    <table className={s.table}>
      <caption className="visually-hidden">Timings of the attempt</caption>
      <tbody>
        {steps.map(({ label, ms }) => {
          const from = start;
          start += ms ?? 0;
          return (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td className={s.track}>
                {ms !== null && (
                  <span
                    style={{
                      marginLeft: `${(from / total) * 100}%`,
                      width: `${(Math.min(ms, total - from) / total) * 100}%`,
                    }}
                  />
                )}
              </td>
              <td className={s.value}>{ms === null ? 'not needed' : milliseconds(ms)}</td>
            </tr>
          );
        })}
        <tr className={s.total}>
          <th scope="row">Total</th>
          <td className={s.track} />
          <td className={s.value}>{milliseconds(elapsedMs)}</td>
        </tr>
      </tbody>
    </table>
  );
}
