import { defineEventType, payment, samplePayment, text, time } from '../shared.ts';

export const paymentFailed = defineEventType({
  type: 'payment.failed',
  title: 'Payment failed',
  description: 'A client’s payment was refused; the payload says why.',
  payload: payment.extend({ failure_reason: text, failed_date: time }),
  sample: (now) => ({
    ...samplePayment,
    payment_method: 'card',
    failure_reason: 'The card was declined.',
    failed_date: now,
  }),
});
