import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

// The subscription's signing secret, whole: whsec_…
const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('WEBHOOK_SECRET is not set');

const isGenuine = (body, timestamp, signatures) => {
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const hash = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const expected = Buffer.from(`sha256=${hash}`);
  // While a secret is being renewed there are two signatures, with a comma between them.
  return String(signatures)
    .split(',')
    .map((one) => Buffer.from(one.trim()))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
};

const receive = async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  // The bytes exactly as they came: parse them only after the check.
  const body = Buffer.concat(chunks);
  const { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signatures } = request.headers;
  if (!isGenuine(body, timestamp, signatures)) return response.writeHead(401).end();
  const event = JSON.parse(body);
  console.log(event.type, event.payload);
  response.writeHead(204).end();
};

createServer((request, response) => {
  // Such as a sender that leaves in the middle of its body.
  receive(request, response).catch(() => response.destroy());
}).listen(process.env.PORT ?? 3000);
