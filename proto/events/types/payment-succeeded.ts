import { defineEventType, payment, samplePayment, time } from '../shared.ts';

export const paymentSucceeded = defineEventType({
  type: 'payment.succeeded',
  title: 'Payment succeeded',
  description: 'A client’s payment went through.',
  payload: payment.extend({ paid_date: time }),
  sample: (now) => ({ ...samplePayment, payment_method: 'card', paid_date: now }),
});
