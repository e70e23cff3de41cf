import { testReceiver } from '@causeway/runtime/testing';
import { test } from 'vitest';
import { outlasts, placesByDay } from './support/places.ts';
import { openPortal } from './support/portal.ts';

const portal = await openPortal();
const receiver = await testReceiver();

test.each(placesByDay)(
  '$name outlasts a reload, Back and the session, and is done once though its answer is lost in a second tab',
  (place) => outlasts(portal, receiver, place),
);
