import {
  type IDataObject,
  type IExecuteFunctions,
  type ILoadOptionsFunctions,
  type INodeExecutionData,
  type INodeListSearchResult,
  type INodePropertyOptions,
  type INodeType,
  type INodeTypeDescription,
  type JsonObject,
  NodeApiError,
  NodeConnectionTypes,
} from 'n8n-workflow';
import { type ConnectorProblem, recordsOf, requestOf, type Values } from '../../../request.ts';
import { type Action, actions } from '../../../table.ts';
import { actionProperties, isLocator, moreFields } from '../properties.ts';
import { optionsOf, send } from '../send.ts';

const optionsFrom = (lookup: string) =>
  async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
    return optionsOf(this, lookup);
  };

export class Causeway implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Causeway',
    name: 'causeway',
    icon: 'file:../../causeway.svg',
    group: ['transform'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Find and change leads, clients, affiliates and notes',
    defaults: { name: 'Causeway' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'causewayApi', required: true }],
    properties: actionProperties(),
  };

  methods = {
    loadOptions: {
      employees: optionsFrom('employees'),
      affiliates: optionsFrom('affiliates'),
      leadStatuses: optionsFrom('leadStatuses'),
      clientStatuses: optionsFrom('clientStatuses'),
    },
    listSearch: {
      async clients(this: ILoadOptionsFunctions, filter?: string): Promise<INodeListSearchResult> {
        return { results: await optionsOf(this, 'clients', filter) };
      },
    },
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const items = this.getInputData();
    const done: INodeExecutionData[] = [];
    for (let index = 0; index < items.length; index++) {
      const pairedItem = { item: index };
      try {
        const action = actionAt(this, index);
        const answer = await send(this, requestOf(action, valuesAt(this, action, index)));
        done.push(...recordsOf(action, answer).map((json) => ({ json: json as IDataObject, pairedItem })));
      } catch (error) {
        const { message, status, requestId } = error as Partial<ConnectorProblem> & Error;
        if (!this.continueOnFail())
          throw new NodeApiError(this.getNode(), error as JsonObject, {
            message,
            itemIndex: index,
            ...(requestId !== undefined && { description: `Request ID: ${requestId}` }),
            ...(status !== undefined && { httpCode: String(status) }),
          });
        done.push({ json: { error: message, ...(status !== undefined && { status }) }, pairedItem });
      }
    }
    return [done];
  }
}

const actionAt = (context: IExecuteFunctions, index: number): Action => {
  const resource = context.getNodeParameter('resource', index);
  const operation = context.getNodeParameter('operation', index);
  return actions.find((one) => one.resource === resource && one.operation === operation)!;
};

const valuesAt = (context: IExecuteFunctions, action: Action, index: number): Values => {
  const required = action.fields.filter((field) => field.required);
  return {
    ...(context.getNodeParameter(moreFields(action).name, index, {}) as Values),
    ...Object.fromEntries(
      required.map((field) => {
        const options = isLocator(field) ? { extractValue: true } : {};
        return [field.name, context.getNodeParameter(field.name, index, undefined, options)];
      }),
    ),
  };
};
