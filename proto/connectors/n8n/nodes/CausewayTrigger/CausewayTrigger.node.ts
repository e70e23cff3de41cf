import {
  type IDataObject,
  type IHookFunctions,
  type INodeType,
  type INodeTypeDescription,
  type IWebhookFunctions,
  type IWebhookResponseData,
  NodeConnectionTypes,
} from 'n8n-workflow';
import { eventProperty } from '../properties.ts';
import { isRepeated, type Kept, receive, remember } from '../receive.ts';
import { send } from '../send.ts';

const subscriptions = '/api/v1/webhooks/subscriptions';

export class CausewayTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Causeway Trigger',
    name: 'causewayTrigger',
    icon: 'file:../../causeway.svg',
    group: ['trigger'],
    version: 1,
    subtitle: '={{$parameter["events"].join(", ")}}',
    description: 'Starts the workflow when something happens in Causeway, such as a new lead',
    defaults: { name: 'Causeway Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'causewayApi', required: true }],
    webhooks: [
      {
        name: 'default',
        httpMethod: 'POST',
        responseMode: 'onReceived',
        responseData: 'noData',
        path: 'webhook',
      },
    ],
    properties: [eventProperty()],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const kept: Kept = this.getWorkflowStaticData('node');
        if (!kept.subscriptionId) return false;
        const path = `${subscriptions}/${kept.subscriptionId}`;
        const found = await send(this, { method: 'GET', path, query: {} }, { emptyOn: 404 });
        const { url, eventTypes } = wantedBy(this);
        const isSame =
          found.url === url &&
          [...(found.eventTypes as string[])].sort().join() === [...eventTypes].sort().join();
        // A tool's subscription cannot be edited.
        if (found.id && !isSame) await send(this, { method: 'DELETE', path, query: {} }, { emptyOn: 404 });
        // A create enables what Causeway has switched off, and leaves off what a member has.
        return isSame && found.enabled === true;
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const { url, eventTypes } = wantedBy(this);
        const name = `n8n: ${this.getWorkflow().name ?? 'workflow'}`.slice(0, 100);
        const body = { url, eventTypes, name, managedBy: 'n8n' };
        const subscription = await send(this, { method: 'POST', path: subscriptions, query: {}, body });
        const kept: Kept = this.getWorkflowStaticData('node');
        kept.subscriptionId = subscription.id as number;
        kept.signingSecret = subscription.signingSecret as string;
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const kept: Kept = this.getWorkflowStaticData('node');
        if (kept.subscriptionId) {
          const path = `${subscriptions}/${kept.subscriptionId}`;
          await send(this, { method: 'DELETE', path, query: {} }, { emptyOn: 404 });
        }
        delete kept.subscriptionId;
        delete kept.signingSecret;
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { rawBody } = this.getRequestObject();
    const response = this.getResponseObject();
    const { status, answer, event } = await receive(
      rawBody,
      this.getHeaderData(),
      this.getWorkflowStaticData('node'),
    );
    const workflow = `${this.getWorkflow().id}:${this.getNode().id}`;
    if (event?.metadata?.test && this.getMode() !== 'manual') {
      response
        .status(200)
        .json({ ignored: 'A test delivery starts the workflow only while the editor listens.' });
      return { noWebhookResponse: true };
    }
    if (!event || isRepeated(workflow, event)) {
      response.status(status).json(answer);
      return { noWebhookResponse: true };
    }
    response.once('finish', () => {
      if (response.statusCode < 300) remember(workflow, event);
    });
    return { workflowData: [[{ json: event as unknown as IDataObject }]] };
  }
}

const wantedBy = (context: IHookFunctions): { url: string; eventTypes: readonly string[] } => ({
  url: context.getNodeWebhookUrl('default')!,
  eventTypes: context.getNodeParameter('events', []) as string[],
});
