import { test } from 'vitest';
import { judgeAlerts } from './testing/alerts.ts';

test('every alert fires for its samples, and for no others, evaluated every 15s', () => judgeAlerts('15s'));
