import { instant } from '../../schemas/values.ts';
import { defineEventType, payment, samplePayment } from '../shared.ts';

export const paymentSucceeded = defineEventType({
  type: 'payment.succeeded',
  title: 'Payment succeeded',
  description: 'A client’s payment went through.',
  payload: payment.extend({ paid_date: instant }),
  sample: (now) => ({ ...samplePayment, payment_method: 'card', paid_date: now }),
});
