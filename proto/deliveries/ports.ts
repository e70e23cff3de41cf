/** The ports that deliveries may go to. */
export type DeliveryPorts = ReadonlySet<number> | 'any';

/**
 * Ports of HTTPS: the standard one, and the usual one of a server that cannot have it. Other ports may belong to
 * services that mistake a request for a command.
 */
const httpsPorts = [443, 8443];

/** The configured ports. The default is `httpsPorts`, or any port if plain http or private addresses are allowed. */
export const deliveryPorts = (
  configured: DeliveryPorts | undefined,
  { allowHttp, allowPrivate }: { readonly allowHttp: boolean; readonly allowPrivate: boolean },
): DeliveryPorts => configured ?? (allowHttp || allowPrivate ? 'any' : new Set(httpsPorts));

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
  if (ports === 'any') return `${port}; a port is from 1 to 65535`;
  const allowed = [...ports].sort((a, b) => a - b).join(', ');
  return `${port}; deliveries go to these ports only: ${allowed}; an operator allows others with WEBHOOKS_PORTS`;
};
