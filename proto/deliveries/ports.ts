/** The ports that deliveries may go to. */
export type DeliveryPorts = ReadonlySet<number> | 'any';

/** The configured ports. The default is 443, or any port if plain http or private addresses are allowed. */
export const deliveryPorts = (
  configured: DeliveryPorts | undefined,
  { allowHttp, allowPrivate }: { readonly allowHttp: boolean; readonly allowPrivate: boolean },
): DeliveryPorts => configured ?? (allowHttp || allowPrivate ? 'any' : new Set([443]));

/** The port of an http or https URL. */
export const portOf = ({ port, protocol }: URL): number => {
  if (port !== '') return Number(port);
  return protocol === 'http:' ? 80 : 443;
};

/**
 * Why deliveries may not go to a URL's port, or undefined if they may.
 * @returns words that fit after "The port is" or "the port is".
 */
export const portProblem = (url: URL, ports: DeliveryPorts): string | undefined => {
  const port = portOf(url);
  if (port !== 0 && (ports === 'any' || ports.has(port))) return undefined;
  const allowed = ports === 'any' ? '1 to 65535' : [...ports].sort((a, b) => a - b).join(', ');
  return `${port}; deliveries go to these ports only: ${allowed}`;
};
