import {
  type IDataObject,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  type IPollFunctions,
  NodeConnectionTypes,
} from 'n8n-workflow';
import { feedOf, readChanges, sampleChanges } from '../../../changes.ts';
import type { ConnectorRequest } from '../../../request.ts';
import { kindsProperty } from '../properties.ts';
import { send } from '../send.ts';

export class CausewayChanges implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Causeway Changes Trigger',
    name: 'causewayChanges',
    icon: 'file:../../causeway.svg',
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["kinds"].join(", ")}}',
    description: 'Starts the workflow when a record of Causeway was created or changed',
    defaults: { name: 'Causeway Changes Trigger' },
    polling: true,
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'causewayApi', required: true }],
    properties: [kindsProperty()],
  };

  async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
    const types = (this.getNodeParameter('kinds', []) as string[]).toSorted().join();
    const request = (one: ConnectorRequest) => send(this, one, { emptyOn: 410 });
    if (this.getMode() === 'manual') return itemsOf(await sampleChanges(request, types));
    const { baseUrl, apiKey } = await this.getCredentials<Record<string, string>>('causewayApi');
    const feed = feedOf(baseUrl!, apiKey!, types);
    const kept: { feed?: string; cursor?: string } = this.getWorkflowStaticData('node');
    const { records, cursor } = await readChanges(request, {
      types,
      from: kept.feed === feed ? kept.cursor : undefined,
      warn: (text) => this.logger.warn(text),
    });
    Object.assign(kept, { feed, cursor });
    return itemsOf(records);
  }
}

const itemsOf = (records: readonly object[]): INodeExecutionData[][] | null =>
  records.length === 0 ? null : [records.map((record) => ({ json: record as IDataObject }))];
