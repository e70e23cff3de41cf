/** The ports that deliveries may go to. */
export type DeliveryPorts = ReadonlySet<number> | 'any';

/** The ports of an installation that names none: 443, and any where plain http or private addresses are allowed. */
export const deliveryPorts = (
  named: DeliveryPorts | undefined,
  { allowHttp, allowPrivate }: { readonly allowHttp: boolean; readonly allowPrivate: boolean },
): DeliveryPorts => named ?? (allowHttp || allowPrivate ? 'any' : new Set([443]));

/** The port that a URL of http or https leads to. */
export const portOf = ({ port, protocol }: URL): number => {
  if (port !== '') return Number(port);
  return protocol === 'http:' ? 80 : 443;
};

/**
 * Why a URL's port is never delivered to, or undefined when it may be.
 * @returns words that fit after "The port is" or "the port is".
 */
export const portProblem = (url: URL, ports: DeliveryPorts): string | undefined => {
  const port = portOf(url);
  if (port !== 0 && (ports === 'any' || ports.has(port))) return undefined;
  const allowed = ports === 'any' ? '1 to 65535' : [...ports].sort((a, b) => a - b).join(', ');
  return `${port}; deliveries go to these ports only: ${allowed}`;
};
