// npm install the package @causeway/client, which the operator of this installation has; node receiver.mts (Node 22.18 or newer)
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook, WebhookInvalid } from '@causeway/client';

// The subscription's signing secret, whole: whsec_…
const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('WEBHOOK_SECRET is not set');

createServer(async (request, response) => {
  try {
    // The bytes exactly as they came: they are parsed only after the check.
    const event = await verifyWebhook(await buffer(request), request.headers, secret);
    console.log(event.type, event.payload);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(error instanceof WebhookInvalid ? 401 : 500).end();
  }
}).listen(process.env.PORT ?? 3000);
