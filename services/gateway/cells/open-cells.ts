import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, connectBus, type Kit, natsAddress, openBus } from '@causeway/runtime';
import type { GatewayConfig } from '../config.ts';
import { gatewayMetrics } from '../metrics.ts';
import { type Cell, type CellKit, startCell } from './cell.ts';
import { type Cells, oneCell, requireReached, routeToCells } from './cells.ts';
import type { CellSetting } from './setting.ts';

/** Opens the cells of `CELLS`, or the one of `NATS_URL`. */
export const openCells = async (kit: Kit, config: GatewayConfig): Promise<Cells> => {
  if (config.CELLS) return openSeveral(kit, config, config.CELLS);
  const cell = await startCell(kit, await openBus(kit, config), 'all', config);
  kit.ready('key table', () => cell.table.trusted());
  return oneCell(cell);
};

/**
 * Opens each cell on its own, and tries again while one is away: a gateway starts, and is ready, as long as one of its
 * cells is well. Otherwise an outage of one cell would take the companies of the others off the balancer.
 */
const openSeveral = async (
  kit: Kit,
  config: GatewayConfig,
  settings: readonly CellSetting[],
): Promise<Cells> => {
  const places: (Cell | undefined)[] = settings.map(() => undefined);
  const stops: (() => Promise<void>)[] = [];
  let stopped = false;

  const openOne = async (setting: CellSetting, at: number): Promise<void> => {
    const log = kit.log.child({ cell: setting.name });
    for (let first = true; !stopped; first = false) {
      const parts: Part[] = [];
      const own: CellKit = { ...kit, log, onStop: (name, stop) => void parts.push({ name, stop }) };
      try {
        const bus = await connect(own, config, setting);
        places[at] = await startCell(own, bus, setting.name, config);
        stops.push(() => stopParts(own, parts));
        log.info('cell is open');
        return;
      } catch (error) {
        await stopParts(own, parts);
        if (first) log.warn({ reason: String(error) }, 'cell is not reachable');
        await sleep(retryMs);
      }
    }
  };
  kit.onStop('cells', async () => {
    stopped = true;
    await Promise.all(stops.map((stop) => stop()));
  });

  const opened = settings.map(openOne);
  // A gateway that listened before would answer 503 for cells that are well.
  await Promise.race([Promise.all(opened), sleep(startPatienceMs)]);
  const isWell = (cell: Cell | undefined): boolean => cell?.bus.connected() === true && cell.table.trusted();
  kit.ready('a cell', () => places.some(isWell));
  for (const [at, { name }] of settings.entries())
    kit.metrics.gauge(gatewayMetrics.gateway_cell_reachable, () => Number(isWell(places[at])), {
      cell: name,
    });
  return {
    of: routeToCells(settings, places),
    open: () => places.filter((cell) => cell !== undefined),
    only: undefined,
    first: () => requireReached(places[0]),
    count: settings.length,
  };
};

const connect = async (kit: CellKit, config: GatewayConfig, { url }: CellSetting): Promise<Bus> => {
  const { instance, log, metrics, onStop } = kit;
  const address = natsAddress({ ...config, NATS_URL: url });
  const bus = await connectBus({ ...address, name: 'gateway', instance, standby: true, log, metrics });
  onStop('NATS', () => bus.close());
  return bus;
};

/** Stops the parts of a cell, the last one first. */
const stopParts = async ({ log }: CellKit, parts: Part[]): Promise<void> => {
  for (const { name, stop } of parts.splice(0).reverse())
    await Promise.resolve(stop()).catch((error: unknown) =>
      log.error({ error, part: name }, 'part did not stop cleanly'),
    );
};

interface Part {
  readonly name: string;
  readonly stop: () => Promise<void> | void;
}

const retryMs = 1000;
/** How long a starting gateway waits for all its cells before it serves those that are well. */
const startPatienceMs = 10_000;
